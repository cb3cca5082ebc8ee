package dev.berth.storage.s3;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/// The bytes of one part, which may be read as often as it must be sent. It takes as much memory as
/// it has bytes, to a block: most objects are small, and many are written at once.
final class PartBuffer {

    private static final int FIRST_BLOCK_BYTES = 1 << 14;

    /// Small enough for G1 not to give each a region, or two, of its own.
    private static final int LARGEST_BLOCK_BYTES = 1 << 18;

    private final List<byte[]> blocks = new ArrayList<>();
    private int size;

    /// In the last block.
    private int room;

    int size() {
        return size;
    }

    void add(byte[] bytes, int offset, int length) {
        int added = 0;
        while (added < length) {
            if (room == 0) {
                room = Math.clamp(size, FIRST_BLOCK_BYTES, LARGEST_BLOCK_BYTES);
                blocks.add(new byte[room]);
            }
            var block = blocks.getLast();
            int count = Math.min(length - added, room);
            System.arraycopy(bytes, offset + added, block, block.length - room, count);
            added += count;
            room -= count;
            size += count;
        }
    }

    /// A stream from the beginning; nothing may be added while it is in use.
    InputStream open() {
        var streams = new ArrayList<InputStream>(blocks.size());
        int left = size;
        for (var block : blocks) {
            streams.add(new ByteArrayInputStream(block, 0, Math.min(block.length, left)));
            left -= block.length;
        }
        return new SequenceInputStream(Collections.enumeration(streams));
    }
}
