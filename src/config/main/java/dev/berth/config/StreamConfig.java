package dev.berth.config;

import java.time.Duration;

/// How long answers may take that leave part by part.
///
/// @param partTimeout from one part to the next
/// @param timeout in all
public record StreamConfig(Duration partTimeout, Duration timeout) {

    static StreamConfig read(Reading reading) {
        return new StreamConfig(
                reading.value("--stream-part-timeout", Syntax.seconds(1), Duration.ofSeconds(60)),
                reading.value("--stream-timeout", Syntax.seconds(1), Duration.ofMinutes(8)));
    }
}
