package dev.berth.transform;

import dev.berth.content.Gunzip;
import dev.berth.storage.StoredObject;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.LongStream;

/// Opens objects, unpacked where a job says that they are packed. Used by any threads.
record ObjectSource(boolean gzip) {

    private static final int BUFFER = 1 << 16;
    private static final int COUNTED_AT_ONCE = 8;
    private static final long COUNTED_BYTES = 64 << 20;

    /// What an object may have unpacked; one whose size is not known, or that is packed, may have
    /// anything.
    long mostBytes(StoredObject object) {
        return gzip || object.size() == 0 ? Long.MAX_VALUE : object.size();
    }

    InputStream open(StoredObject object) throws IOException {
        return open(new ObjectRange(object, 0, 1), new LongAdder());
    }

    /// Opens a range of an object, from the byte before it on where there is one. It goes on to the
    /// object's end.
    ///
    /// @param read counts its bytes as they are stored
    InputStream open(ObjectRange range, LongAdder read) throws IOException {
        return unpacked(counted(range.object().open(Math.max(0, range.start() - 1)), read));
    }

    private static InputStream counted(InputStream object, LongAdder read) {
        return new FilterInputStream(object) {
            @Override
            public int read() throws IOException {
                int value = in.read();
                read.add(value < 0 ? 0 : 1);
                return value;
            }

            @Override
            public int read(byte[] bytes, int offset, int length) throws IOException {
                int count = in.read(bytes, offset, length);
                read.add(Math.max(0, count));
                return count;
            }
        };
    }

    /// How many newlines the first bytes of an object have. Reads at several places at once, because
    /// S3 gives one reader less than it could count.
    long newlines(StoredObject object, long bytes) throws InterruptedException {
        try (var threads =
                Executors.newFixedThreadPool(COUNTED_AT_ONCE, Thread.ofVirtual().factory())) {
            var counts = LongStream.iterate(0, start -> start < bytes, start -> start + COUNTED_BYTES)
                    .mapToObj(start ->
                            threads.submit(() -> newlines(object, start, Math.min(bytes, start + COUNTED_BYTES))))
                    .toList();
            long newlines = 0;
            for (var count : counts) {
                newlines += count.get();
            }
            return newlines;
        } catch (ExecutionException e) {
            throw new TransformException(
                    "its lines can't be counted: " + e.getCause().getMessage(), e.getCause());
        }
    }

    private long newlines(StoredObject object, long start, long end) throws IOException {
        try (var in = object.open(start)) {
            var buffer = new byte[BUFFER];
            long newlines = 0;
            long left = end - start;
            while (left > 0) {
                int count = in.read(buffer, 0, (int) Math.min(buffer.length, left));
                if (count < 0) {
                    throw new EOFException(
                            "%s: found %d bytes, expected %d".formatted(object.location(), end - left, end));
                }
                for (int i = 0; i < count; i++) {
                    newlines += buffer[i] == '\n' ? 1 : 0;
                }
                left -= count;
            }
            return newlines;
        }
    }

    private InputStream unpacked(InputStream in) throws IOException {
        try {
            return gzip ? Gunzip.open(in, BUFFER) : in;
        } catch (IOException | RuntimeException e) {
            in.close();
            throw e;
        }
    }
}
