package dev.berth.table;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Optional;

/// A table in a file. Its rows stand in groups: the row groups of Parquet, the record batches of
/// Arrow. No more than one group is in memory. For one thread.
public interface Table extends Closeable {

    /// The next row as a line of JSON, an object with a member for each column. Nothing at the end of
    /// the table.
    Optional<byte[]> next() throws IOException;

    /// Whether the row that was given last is the last one of its group.
    boolean endsGroup();

    /// About how many bytes of the file have been read.
    long position();

    /// Writes a table of the same format that has a row for each of this one's, in groups of the same
    /// sizes.
    ///
    /// @param out is the caller's to close
    /// @throws IOException also where there are more or fewer answers than rows, or one is no JSON
    void write(TableAnswers answers, OutputStream out) throws IOException;
}
