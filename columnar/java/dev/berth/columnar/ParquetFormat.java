package dev.berth.columnar;

import dev.berth.table.Table;
import dev.berth.table.TableFormat;
import java.io.IOException;
import java.nio.file.Path;

/// Parquet.
public final class ParquetFormat implements TableFormat {

    @Override
    public String type() {
        return "application/vnd.apache.parquet";
    }

    @Override
    public Table open(Path file) throws IOException {
        return ParquetTable.open(file);
    }
}
