package dev.berth.config;

import static dev.berth.config.Reading.number;

import java.time.Duration;
import java.util.OptionalInt;

/// How records wait and how they are put together.
///
/// @param queueCapacity `Integer.MAX_VALUE` is unlimited
/// @param targetDelay zero: never
public record BatchingConfig(
        int queueCapacity, Batches batches, Duration targetDelay, Duration timeout, Duration stuckAfter) {

    /// How large batches become.
    ///
    /// @param size empty: as the accelerator wants
    /// @param tokens padded cost of a batch; empty: as the accelerator wants
    /// @param delay that a record waits for others; zero: not at all
    public record Batches(OptionalInt size, OptionalInt tokens, Duration delay) {}

    static BatchingConfig read(Reading reading) {
        boolean batch = TransformConfig.isBatch(reading);
        var milliseconds = Syntax.duration("ms", Duration.ofMillis(1), 0);
        var minutes = Syntax.duration("minutes", Duration.ofMinutes(1), 1);
        return new BatchingConfig(
                reading.value("--queue-capacity", Syntax.positive(), batch ? Integer.MAX_VALUE : 1000),
                new Batches(
                        number(reading.optional("--max-batch-size", Syntax.positive())),
                        number(reading.optional("--max-batch-tokens", Syntax.positive())),
                        reading.value("--max-batch-delay-ms", milliseconds, Duration.ZERO)),
                reading.value("--target-delay-ms", milliseconds, batch ? Duration.ZERO : Duration.ofMillis(300)),
                // A transform job may ask for InvocationsTimeoutInSeconds up to an hour: the container must
                // not be the one to give up.
                reading.value(
                        "--timeout",
                        Syntax.seconds(1).in("SAGEMAKER_MODEL_SERVER_TIMEOUT", minutes),
                        batch ? Duration.ofHours(1) : Duration.ofSeconds(60)),
                reading.value("--stuck-seconds", Syntax.seconds(1), Duration.ofMinutes(2)));
    }
}
