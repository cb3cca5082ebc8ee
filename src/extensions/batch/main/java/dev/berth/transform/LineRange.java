package dev.berth.transform;

import dev.berth.content.RecordReader;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/// Reads the lines of a range of an object's bytes. Ranges that follow each other have all lines of
/// the object, each once, wherever they are cut. For one thread.
///
/// A range begins with the first line that starts in it and is not blank. It ends where the next
/// one begins, which may be behind its last byte. So blank lines belong to the line before them,
/// and the last range with lines knows that those at the end of the object do not count. The
/// object's first range has its leading blank lines.
final class LineRange implements RecordReader {

    private final long end;
    private final LineReader lines;
    private final long linesBefore;

    /// Where the next line starts in the object.
    private long position;

    /// Read already; null for none.
    private byte[] next;

    private boolean isOver;

    /// Opens a reader, and reads up to the range's first line. The stream is the caller's to close.
    ///
    /// @param object from the byte before `start` on, or from its own start where `start` is 0
    /// @param end the offset of the byte behind its last one
    /// @param newlinesBefore how many the object has before the first byte of the stream
    LineRange(InputStream object, long start, long end, long newlinesBefore, int maxBytes) throws IOException {
        this.end = end;
        this.isOver = start == end;
        long before = newlinesBefore;
        if (start > 0) {
            position = start - 1;
            before += skipLine(object);
        }
        lines = new LineReader(object, maxBytes, before);
        if (start > 0 && !isOver) {
            before += skipBlankLines();
        }
        linesBefore = before;
    }

    /// How many lines of the object are before this range's first one.
    long linesBefore() {
        return linesBefore;
    }

    @Override
    public Optional<byte[]> next() throws IOException {
        var line = next == null && !isOver ? lines.next() : Optional.ofNullable(next);
        next = null;
        isOver = line.isEmpty() || (position >= end && !LineReader.isBlank(line.get()));
        if (isOver) {
            return Optional.empty();
        }
        position += line.get().length;
        return line;
    }

    /// Skips the rest of the line that the stream begins in. One that goes beyond the range leaves
    /// nothing of it.
    private int skipLine(InputStream object) throws IOException {
        for (int read = object.read(); read >= 0; read = object.read()) {
            position++;
            if (read == '\n') {
                return 1;
            }
            if (position >= end) {
                break;
            }
        }
        isOver = true;
        return 0;
    }

    private int skipBlankLines() throws IOException {
        int skipped = 0;
        for (var line = lines.next(); line.isPresent(); line = lines.next()) {
            if (!LineReader.isBlank(line.get())) {
                next = line.get();
                return skipped;
            }
            position += line.get().length;
            skipped++;
        }
        isOver = true;
        return skipped;
    }
}
