package dev.berth.table;

import java.io.IOException;
import java.nio.file.Path;

/// Reads and writes tables of one content type. A service: the jar of tables names those that it
/// has.
public interface TableFormat {

    /// The content type, such as `application/vnd.apache.parquet`.
    String type();

    /// Opens a table. The file stays as it is until the table is closed.
    ///
    /// @throws IOException saying what is wrong with the file
    Table open(Path file) throws IOException;
}
