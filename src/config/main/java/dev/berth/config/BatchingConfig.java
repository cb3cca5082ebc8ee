package dev.berth.config;

import java.time.Duration;
import java.util.OptionalInt;

/// How records wait and how they are put together.
///
/// @param queueCapacity `Integer.MAX_VALUE` is unlimited
/// @param maxBatchSize empty: as the accelerator wants
/// @param maxBatchTokens padded cost of a batch; empty: as the accelerator wants
/// @param maxBatchDelay zero: not at all
/// @param targetDelay zero: never
public record BatchingConfig(
        int queueCapacity,
        OptionalInt maxBatchSize,
        OptionalInt maxBatchTokens,
        Duration maxBatchDelay,
        Duration targetDelay,
        Duration timeout,
        Duration stuckAfter) {

    static BatchingConfig read(Reading reading) {
        boolean batch = TransformConfig.isBatch(reading);
        var milliseconds = Syntax.duration("ms", Duration.ofMillis(1), 0);
        var minutes = Syntax.duration("minutes", Duration.ofMinutes(1), 1);
        return new BatchingConfig(
                reading.derived(
                        "--queue-capacity",
                        Syntax.positive(),
                        batch ? Integer.MAX_VALUE : 1000,
                        "1000; unlimited when SAGEMAKER_BATCH is true",
                        "BERTH_QUEUE_CAPACITY",
                        "TS_JOB_QUEUE_SIZE",
                        "MMS_JOB_QUEUE_SIZE",
                        "SERVING_JOB_QUEUE_SIZE"),
                Reading.number(reading.detected(
                        "--max-batch-size",
                        Syntax.positive(),
                        "chosen from the device",
                        "BERTH_MAX_BATCH_SIZE",
                        "SAGEMAKER_TS_BATCH_SIZE",
                        "SERVING_BATCH_SIZE")),
                Reading.number(reading.detected("--max-batch-tokens", Syntax.positive(), "chosen from the device")),
                reading.fixed(
                        "--max-batch-delay-ms",
                        milliseconds,
                        Duration.ZERO,
                        "BERTH_MAX_BATCH_DELAY_MS",
                        "SAGEMAKER_TS_MAX_BATCH_DELAY",
                        "SERVING_MAX_BATCH_DELAY"),
                reading.derived(
                        "--target-delay-ms",
                        milliseconds,
                        batch ? Duration.ZERO : Duration.ofMillis(300),
                        "300 ms; 0 when SAGEMAKER_BATCH is true"),
                // A transform job may ask for InvocationsTimeoutInSeconds up to an hour: the container must
                // not be the one to give up.
                reading.derived(
                        "--timeout",
                        Syntax.seconds(1).in("SAGEMAKER_MODEL_SERVER_TIMEOUT", minutes),
                        batch ? Duration.ofHours(1) : Duration.ofSeconds(60),
                        "60 s; 3600 s when SAGEMAKER_BATCH is true",
                        "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS",
                        "SAGEMAKER_MODEL_SERVER_TIMEOUT",
                        "SAGEMAKER_TS_RESPONSE_TIMEOUT",
                        "TS_DEFAULT_RESPONSE_TIMEOUT",
                        "MMS_DEFAULT_RESPONSE_TIMEOUT",
                        "PREDICT_TIMEOUT"),
                reading.fixed("--stuck-seconds", Syntax.seconds(1), Duration.ofMinutes(2)));
    }
}
