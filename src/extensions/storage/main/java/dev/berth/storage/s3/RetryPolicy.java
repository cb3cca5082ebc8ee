package dev.berth.storage.s3;

import java.time.Duration;

/// How long to put up with an S3 that throttles, fails or falls silent. The delay before a retry is
/// drawn at random below a limit that doubles from retry to retry.
///
/// @param attempts how often a request is sent, at most; and how often in a row the connection may
///   be lost while hardly any of an object comes
/// @param longestDelay the limit that the others end at
/// @param silence how long to wait for the next byte from S3 before the connection counts as lost
public record RetryPolicy(int attempts, Duration firstDelay, Duration longestDelay, Duration silence) {

    /// A request is given up after half a minute of delays, more or less.
    public static final RetryPolicy DEFAULT =
            new RetryPolicy(10, Duration.ofMillis(200), Duration.ofSeconds(20), Duration.ofSeconds(30));
}
