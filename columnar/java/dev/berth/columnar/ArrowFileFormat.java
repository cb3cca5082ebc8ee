package dev.berth.columnar;

import dev.berth.table.Table;
import dev.berth.table.TableFormat;
import java.io.IOException;
import java.nio.file.Path;

/// Arrow's file format, which Feather 2 is too.
public final class ArrowFileFormat implements TableFormat {

    @Override
    public String type() {
        return "application/vnd.apache.arrow.file";
    }

    @Override
    public Table open(Path file) throws IOException {
        return new ArrowTable(file, ArrowForm.FILE);
    }
}
