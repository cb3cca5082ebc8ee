package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Reads framed records, and knows where it is: at which record, counted from 1, and at which
/// offset. Messages name both.
final class FrameReader implements RecordReader {

    private static final int BUFFER_BYTES = 64 * 1024;

    private final BufferedInputStream input;
    private final Framing framing;
    private final Frames frames;
    private final int maxBytes;

    /// The record with its frame, where frames are kept.
    private ByteArrayOutputStream framed = new ByteArrayOutputStream();

    private long record;
    private long offset;

    /// Takes a record, which has at least a byte with its frame, and gives it without.
    interface Framing {
        byte[] record(FrameReader in) throws IOException;
    }

    FrameReader(InputStream input, Framing framing, Frames frames, int maxBytes) {
        this.input = new BufferedInputStream(input, BUFFER_BYTES);
        this.framing = framing;
        this.frames = frames;
        this.maxBytes = maxBytes;
    }

    @Override
    public Optional<byte[]> next() throws IOException {
        input.mark(1);
        if (input.read() < 0) {
            return Optional.empty();
        }
        input.reset();
        record++;
        var bare = framing.record(this);
        var given = frames == Frames.KEPT ? framed.toByteArray() : bare;
        framed = new ByteArrayOutputStream();
        return Optional.of(given);
    }

    /// All records of a body, which is in memory already.
    static List<byte[]> all(byte[] body, Framing framing, int maxBytes) {
        var reader = new FrameReader(new ByteArrayInputStream(body), framing, Frames.STRIPPED, maxBytes);
        var records = new ArrayList<byte[]>();
        try {
            for (var next = reader.next(); next.isPresent(); next = reader.next()) {
                records.add(next.get());
            }
        } catch (IOException e) {
            throw new IllegalStateException("a body is in memory already", e);
        }
        return records;
    }

    long offset() {
        return offset;
    }

    /// Takes the next bytes. Room is made for those that come, not for those that a header promises.
    ///
    /// @param expected how many there should be and why, to end the sentence "expected …"
    byte[] take(int length, String expected) throws IOException {
        RequestMemory.charge(2L * length + HeapSize.LIST);
        var bytes = input.readNBytes(length);
        if (bytes.length < length) {
            throw bad(offset, bytes.length + " bytes", expected);
        }
        offset += length;
        if (frames == Frames.KEPT) {
            framed.writeBytes(bytes);
        }
        return bytes;
    }

    /// To be called before the bytes of a record are taken.
    ///
    /// @param bare how many the record will have, without a sign
    /// @param framed how many it will have with its frame
    void requireFits(long at, long bare, long framed) {
        long given = frames == Frames.KEPT && bare >= 0 ? framed : bare;
        if (Long.compareUnsigned(given, maxBytes) > 0) {
            throw bad(at, Long.toUnsignedString(given) + " bytes", "at most %d in one record".formatted(maxBytes));
        }
    }

    BadInputException bad(long at, String found, String expected) {
        return new BadInputException(
                "record %d, offset %d: found %s, expected %s".formatted(record, at, found, expected));
    }
}
