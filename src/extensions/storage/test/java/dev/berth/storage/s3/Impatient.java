package dev.berth.storage.s3;

import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import dev.berth.storage.local.LocalFiles;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/// How tests open S3, with retries that take no time, and what they write.
public final class Impatient {

    static final RetryPolicy RETRIES =
            new RetryPolicy(6, Duration.ofMillis(1), Duration.ofMillis(4), Duration.ofSeconds(20));

    private Impatient() {}

    static S3Options options(URI endpoint) {
        return new S3Options(Optional.of(endpoint), false, Optional.empty(), false, RETRIES);
    }

    public static Storage storage(URI endpoint) {
        return storage(options(endpoint));
    }

    /// For a client that signs nothing.
    static Storage anonymous(URI endpoint) {
        return storage(new S3Options(Optional.of(endpoint), false, Optional.empty(), true, RETRIES));
    }

    static Storage storage(S3Options options) {
        return new Storage(Map.of("s3", S3.open(options), "file", new LocalFiles().open(_ -> Optional.empty())));
    }

    public static void write(Location location, byte[] bytes) throws IOException {
        try (var writer = location.create()) {
            writer.write(bytes);
            writer.commit();
        }
    }

    /// The same for each size.
    public static byte[] bytes(int size) {
        var bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }
}
