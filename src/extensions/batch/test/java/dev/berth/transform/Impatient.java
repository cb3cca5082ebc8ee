package dev.berth.transform;

import dev.berth.storage.Storage;
import dev.berth.storage.local.LocalFiles;
import dev.berth.storage.s3.RetryPolicy;
import dev.berth.storage.s3.S3;
import dev.berth.storage.s3.S3Options;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/// How tests of jobs open S3: with retries that take no time.
public final class Impatient {

    private Impatient() {}

    public static Storage storage(URI endpoint) {
        var retries = new RetryPolicy(6, Duration.ofMillis(1), Duration.ofMillis(4), Duration.ofSeconds(20));
        var options = new S3Options(Optional.of(endpoint), false, Optional.empty(), false, retries);
        return new Storage(Map.of("s3", S3.open(options), "file", new LocalFiles().open(_ -> Optional.empty())));
    }
}
