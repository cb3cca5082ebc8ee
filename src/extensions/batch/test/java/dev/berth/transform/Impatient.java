package dev.berth.transform;

import dev.berth.storage.s3.RetryPolicy;
import dev.berth.storage.s3.S3Options;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;

/// How tests of jobs open S3: with retries that take no time.
public final class Impatient {

    private Impatient() {}

    public static S3Options options(URI endpoint) {
        var retries = new RetryPolicy(6, Duration.ofMillis(1), Duration.ofMillis(4), Duration.ofSeconds(20));
        return new S3Options(Optional.of(endpoint), false, Optional.empty(), false, retries);
    }
}
