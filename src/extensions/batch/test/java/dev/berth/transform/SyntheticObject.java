package dev.berth.transform;

import java.io.InputStream;

/// An object of any size that is nowhere: the same bytes again and again. It notes how much was
/// read of it, and how much was asked for at a time at most.
final class SyntheticObject extends InputStream {

    private final byte[] pattern;
    private final long size;
    private long position;
    private int largestRead;

    SyntheticObject(byte[] pattern, long size) {
        this.pattern = pattern.clone();
        this.size = size;
    }

    @Override
    public int read() {
        largestRead = Math.max(largestRead, 1);
        return position == size ? -1 : pattern[(int) (position++ % pattern.length)] & 0xff;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) {
        largestRead = Math.max(largestRead, length);
        if (position == size) {
            return -1;
        }
        int start = (int) (position % pattern.length);
        int count = (int) Math.min(Math.min(length, pattern.length - start), size - position);
        System.arraycopy(pattern, start, buffer, offset, count);
        position += count;
        return count;
    }

    long bytesRead() {
        return position;
    }

    int largestRead() {
        return largestRead;
    }
}
