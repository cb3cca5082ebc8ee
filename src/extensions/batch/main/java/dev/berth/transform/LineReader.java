package dev.berth.transform;

import dev.berth.content.RecordReader;
import dev.berth.hooks.BadInputException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.Optional;

/// Reads lines. They end at `\n`; the last one may go without. Blank lines at the end of the stream
/// do not count, as at the end of a request's body; one among others is a record, a bad one mostly.
///
/// Whether SageMaker sends a line's newline is not documented. Its local mode does, under both
/// batch strategies, and so does this; but a line's bytes are sent as they are, where local mode
/// makes `\n` of `\r\n` and of `\r` alone. A newline within a quoted field of CSV ends the record,
/// as the platform's documents say.
final class LineReader implements RecordReader {

    private static final int BUFFER_BYTES = 64 * 1024;
    private static final int MOST_HELD = 64 * 1024;

    private final InputStream input;
    private final int maxBytes;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int start;
    private int end;
    private long number;

    /// What may turn out to be the end of the stream, in its order, and behind it the line that says
    /// that it is not.
    private final ArrayDeque<byte[]> held = new ArrayDeque<>();

    LineReader(InputStream input, int maxBytes) {
        this(input, maxBytes, 0);
    }

    /// @param before how many lines of its object are before the stream's first
    LineReader(InputStream input, int maxBytes, long before) {
        this.input = input;
        this.maxBytes = maxBytes;
        this.number = before;
    }

    @Override
    public Optional<byte[]> next() throws IOException {
        if (held.isEmpty()) {
            holdBlankLines();
        }
        return Optional.ofNullable(held.poll());
    }

    /// Reads to the first line that is not blank. Of blank lines no more are held than a buffer has.
    private void holdBlankLines() throws IOException {
        int bytes = 0;
        for (var line = read(); line.isPresent(); line = read()) {
            held.add(line.get());
            bytes += line.get().length;
            if (!isBlank(line.get()) || bytes > MOST_HELD) {
                return;
            }
        }
        held.clear();
    }

    private Optional<byte[]> read() throws IOException {
        number++;
        var line = new ByteArrayOutputStream();
        boolean ended = false;
        while (!ended && hasMore()) {
            int stop = start;
            while (stop < end && buffer[stop] != '\n') {
                stop++;
            }
            ended = stop < end;
            int length = (ended ? stop + 1 : stop) - start;
            if (length > maxBytes - line.size()) {
                throw tooLong(number, maxBytes);
            }
            line.write(buffer, start, length);
            start += length;
        }
        return line.size() == 0 ? Optional.empty() : Optional.of(line.toByteArray());
    }

    static BadInputException tooLong(long record, int maxBytes) {
        return new BadInputException("record %d: found more than %2$d bytes, expected at most %2$d in one record"
                .formatted(record, maxBytes));
    }

    /// Whether a line has nothing but white space.
    static boolean isBlank(byte[] line) {
        for (byte b : line) {
            if (b != ' ' && b != '\t' && b != '\r' && b != '\n') {
                return false;
            }
        }
        return true;
    }

    private boolean hasMore() throws IOException {
        if (start == end) {
            start = 0;
            end = Math.max(0, input.read(buffer));
        }
        return start < end;
    }
}
