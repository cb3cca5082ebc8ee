package dev.berth.storage.s3;

import java.net.URI;
import java.time.Duration;
import java.util.Optional;

/// How tests open S3: with retries that take no time.
final class Impatient {

    static final RetryPolicy RETRIES =
            new RetryPolicy(6, Duration.ofMillis(1), Duration.ofMillis(4), Duration.ofSeconds(20));

    private Impatient() {}

    static S3Options options(URI endpoint) {
        return new S3Options(Optional.of(endpoint), false, Optional.empty(), false, RETRIES);
    }

    /// For a client that signs nothing.
    static S3Options anonymous(URI endpoint) {
        return new S3Options(Optional.of(endpoint), false, Optional.empty(), true, RETRIES);
    }
}
