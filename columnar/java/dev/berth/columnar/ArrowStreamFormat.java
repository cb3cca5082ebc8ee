package dev.berth.columnar;

import dev.berth.table.Table;
import dev.berth.table.TableFormat;
import java.io.IOException;
import java.nio.file.Path;

/// Arrow's streaming format.
public final class ArrowStreamFormat implements TableFormat {

    @Override
    public String type() {
        return "application/vnd.apache.arrow.stream";
    }

    @Override
    public Table open(Path file) throws IOException {
        return new ArrowTable(file, ArrowForm.STREAM);
    }
}
