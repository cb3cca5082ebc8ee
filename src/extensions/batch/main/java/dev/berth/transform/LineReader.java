package dev.berth.transform;

import dev.berth.content.RecordReader;
import dev.berth.hooks.BadInputException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.Optional;

/// Reads the lines of an object, or of a range of its bytes. They end at `\n`; the last one may go
/// without. Blank lines at the end of the object do not count, as at the end of a request's body;
/// one among others is a record, a bad one mostly.
///
/// Ranges that follow each other have all lines of the object, each once, wherever they are cut. A
/// range begins with the first line that starts in it and is not blank, and ends where the next one
/// begins, which may be behind its last byte. So blank lines belong to the line before them, and the
/// last range with lines knows that those at the end of the object do not count. The object's first
/// range has its leading blank lines.
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

    /// Where the range ends, and where its next line starts.
    private final long rangeEnd;

    private long position;

    /// Of the line that was read last, in the object.
    private long number;

    /// What may turn out to be the end of the stream, in its order, and behind it the line that says
    /// that it is not.
    private final ArrayDeque<byte[]> held = new ArrayDeque<>();

    private boolean isOver;

    LineReader(InputStream input, int maxBytes) {
        this.input = input;
        this.maxBytes = maxBytes;
        this.rangeEnd = Long.MAX_VALUE;
    }

    /// Reads up to the first line of a range.
    ///
    /// @param input from the byte before the range on, where there is one
    /// @param end the offset of the byte behind the last one
    /// @param newlinesBefore how many the object has before the first byte of the stream
    LineReader(InputStream input, long start, long end, long newlinesBefore, int maxBytes) throws IOException {
        this.input = input;
        this.maxBytes = maxBytes;
        this.rangeEnd = end;
        this.number = newlinesBefore;
        this.position = Math.max(0, start - 1);
        this.isOver = start == end;
        if (start > 0 && !isOver) {
            skipLine();
            var line = next();
            while (line.filter(LineReader::isBlank).isPresent()) {
                line = next();
            }
            line.ifPresent(held::addFirst);
        }
    }

    /// Skips the rest of the line that the stream begins in. One that goes beyond the range leaves
    /// nothing of it.
    private void skipLine() throws IOException {
        boolean isSkipped = false;
        while (!isSkipped && position < rangeEnd && hasMore()) {
            isSkipped = buffer[start++] == '\n';
            position++;
        }
        isOver = !isSkipped;
        number += isSkipped ? 1 : 0;
    }

    /// How many lines of the object are before the next one.
    long linesBefore() {
        return number - held.size();
    }

    @Override
    public Optional<byte[]> next() throws IOException {
        if (held.isEmpty() && !isOver) {
            holdBlankLines();
        }
        return Optional.ofNullable(held.poll());
    }

    /// Reads to the first line that is not blank. Of blank lines no more are held than a buffer has.
    private void holdBlankLines() throws IOException {
        int bytes = 0;
        for (var line = read(); line.length > 0; line = read()) {
            boolean isBlank = isBlank(line);
            if (!isBlank && position >= rangeEnd) {
                isOver = true;
                return;
            }
            position += line.length;
            number++;
            held.add(line);
            bytes += line.length;
            if (!isBlank || bytes > MOST_HELD) {
                return;
            }
        }
        held.clear();
        isOver = true;
    }

    /// The next line; empty at the end of the stream.
    private byte[] read() throws IOException {
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
                throw tooLong(number + 1, maxBytes);
            }
            line.write(buffer, start, length);
            start += length;
        }
        return line.toByteArray();
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
