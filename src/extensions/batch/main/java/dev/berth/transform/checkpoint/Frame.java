package dev.berth.transform.checkpoint;

import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.zip.CRC32;

/// The head of an answer in a [Journal] or in one of the [StoredParts]: which records it is for,
/// how long it is, and checksums of itself and of the answer. So a frame that was cut off, or whose
/// bytes never reached the disk, is known.
///
/// @param first the first record, counted from 1
/// @param sum the answer's CRC-32
record Frame(long first, int count, int length, int sum) {

    static final int BYTES = Long.BYTES + 4 * Integer.BYTES;

    static Frame of(long first, int count, byte[] answer) {
        return new Frame(first, count, answer.length, crc(ByteBuffer.wrap(answer)));
    }

    /// Reads the head that begins at the buffer's position; nothing where there is none.
    static Optional<Frame> read(ByteBuffer in) {
        if (in.remaining() < BYTES) {
            return Optional.empty();
        }
        int sum = crc(in.slice(in.position(), BYTES - Integer.BYTES));
        var frame = new Frame(in.getLong(), in.getInt(), in.getInt(), in.getInt());
        return in.getInt() == sum && frame.first > 0 && frame.length >= 0 ? Optional.of(frame) : Optional.empty();
    }

    /// The head alone.
    byte[] head() {
        var head = ByteBuffer.allocate(BYTES)
                .putLong(first)
                .putInt(count)
                .putInt(length)
                .putInt(sum);
        return head.putInt(crc(head.slice(0, BYTES - Integer.BYTES))).array();
    }

    /// Whether it is the head of this answer.
    boolean isOf(byte[] answer) {
        return answer.length == length && crc(ByteBuffer.wrap(answer)) == sum;
    }

    private static int crc(ByteBuffer bytes) {
        var crc = new CRC32();
        crc.update(bytes);
        return (int) crc.getValue();
    }
}
