package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Reads framed records, and knows where it is: at which record, counted from 1, and at which
/// offset. Messages name both.
abstract class FrameReader implements RecordReader {

    private static final int BUFFER_BYTES = 64 * 1024;

    final Frames frames;
    final int maxBytes;
    private final BufferedInputStream input;
    private long record;
    private long offset;

    FrameReader(InputStream input, Frames frames, int maxBytes) {
        this.input = new BufferedInputStream(input, BUFFER_BYTES);
        this.frames = frames;
        this.maxBytes = maxBytes;
    }

    @Override
    public final Optional<byte[]> next() throws IOException {
        input.mark(1);
        if (input.read() < 0) {
            return Optional.empty();
        }
        input.reset();
        record++;
        return Optional.of(record());
    }

    /// All records of a body, which is in memory already.
    final List<byte[]> all() {
        var records = new ArrayList<byte[]>();
        try {
            for (var next = next(); next.isPresent(); next = next()) {
                records.add(next.get());
            }
        } catch (IOException e) {
            throw new IllegalStateException("a body is in memory already", e);
        }
        return records;
    }

    /// The next record, which has at least a byte.
    abstract byte[] record() throws IOException;

    final long offset() {
        return offset;
    }

    /// Takes the next bytes. Room is made for those that come, not for those that a header promises.
    ///
    /// @param expected how many there should be and why, to end the sentence "expected …"
    final byte[] take(int length, String expected) throws IOException {
        RequestMemory.charge(2L * length + HeapSize.LIST);
        var bytes = input.readNBytes(length);
        if (bytes.length < length) {
            throw bad(offset, bytes.length + " bytes", expected);
        }
        offset += length;
        return bytes;
    }

    final BadInputException bad(long at, String found, String expected) {
        return new BadInputException(
                "record %d, offset %d: found %s, expected %s".formatted(record, at, found, expected));
    }

    final BadInputException tooLong(long at, String length, int most) {
        return bad(at, length + " bytes", "at most %d in one record".formatted(most));
    }
}
