package dev.berth.storage.s3;

import java.net.URI;
import java.util.Arrays;
import java.util.Random;

/// Writes an object and reads it again, in a process whose heap can't hold it.
final class SmallHeap {

    static final int OBJECT_BYTES = 64 << 20;

    private SmallHeap() {}

    /// @param args the endpoint and the location
    public static void main(String[] args) throws Exception {
        var bytes = new byte[1 << 16];
        new Random(1).nextBytes(bytes);
        try (var storage = Impatient.storage(URI.create(args[0]))) {
            var object = storage.at(args[1]);
            try (var writer = object.create()) {
                for (int written = 0; written < OBJECT_BYTES; written += bytes.length) {
                    writer.write(bytes);
                }
                writer.commit();
            }
            try (var objects = object.list();
                    var in = objects.findFirst().orElseThrow().location().open()) {
                for (int read = 0; read < OBJECT_BYTES; read += bytes.length) {
                    if (!Arrays.equals(in.readNBytes(bytes.length), bytes)) {
                        throw new IllegalStateException("found other bytes at %d".formatted(read));
                    }
                }
                if (in.read() != -1) {
                    throw new IllegalStateException("found more bytes");
                }
            }
        }
    }
}
