package dev.berth.columnar;

import java.io.IOException;

/// A file that is no table, or a damaged one. Apache's libraries say that with exceptions of any
/// type.
final class UnreadableTable extends IOException {

    private UnreadableTable(String format, Exception cause) {
        super("%s: %s".formatted(format, reason(cause)), cause);
    }

    interface Reading<T> {
        T read() throws IOException;
    }

    /// @param format what the file should be
    static <T> T whileReading(String format, Reading<T> reading) throws IOException {
        try {
            return reading.read();
        } catch (IOException | RuntimeException e) {
            throw new UnreadableTable(format, e);
        }
    }

    /// The libraries' own exceptions tell where they were, and their first cause what is wrong.
    private static String reason(Throwable thrown) {
        var first = thrown;
        while (first instanceof RuntimeException && first.getCause() != null) {
            first = first.getCause();
        }
        return first.getMessage() == null ? first.toString() : first.getMessage();
    }
}
