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
        return new BatchingConfig(
                reading.derived(
                        "--queue-capacity",
                        Syntax.positive(),
                        batch ? Integer.MAX_VALUE : 1000,
                        "1000; unlimited when SAGEMAKER_BATCH is true",
                        "Requests that may wait before callers are refused with 503",
                        "BERTH_QUEUE_CAPACITY",
                        "TS_JOB_QUEUE_SIZE",
                        "MMS_JOB_QUEUE_SIZE",
                        "SERVING_JOB_QUEUE_SIZE"),
                Reading.number(reading.detected(
                        "--max-batch-size",
                        Syntax.positive(),
                        "chosen from the device",
                        "Records that may be predicted together",
                        "BERTH_MAX_BATCH_SIZE",
                        "SAGEMAKER_TS_BATCH_SIZE",
                        "SERVING_BATCH_SIZE")),
                Reading.number(reading.detected(
                        "--max-batch-tokens",
                        Syntax.positive(),
                        "chosen from the device",
                        "Tokens, padding included, that may be predicted together")),
                reading.fixed(
                        "--max-batch-delay-ms",
                        Syntax.milliseconds(0),
                        Duration.ZERO,
                        "How long a free worker waits for its batch to fill",
                        "BERTH_MAX_BATCH_DELAY_MS",
                        "SAGEMAKER_TS_MAX_BATCH_DELAY",
                        "SERVING_MAX_BATCH_DELAY"),
                reading.derived(
                        "--target-delay-ms",
                        Syntax.milliseconds(0),
                        batch ? Duration.ZERO : Duration.ofMillis(300),
                        "300 ms; 0 when SAGEMAKER_BATCH is true",
                        "When a request has waited for longer and others leave unanswered, the newest is served"
                                + " first; 0: never"),
                // A transform job may ask for InvocationsTimeoutInSeconds up to an hour: the container must
                // not be the one to give up.
                reading.derived(
                        "--timeout",
                        Syntax.seconds(1)
                                .in(
                                        "SAGEMAKER_MODEL_SERVER_TIMEOUT",
                                        Syntax.duration("minutes", Duration.ofMinutes(1), 1)),
                        batch ? Duration.ofHours(1) : Duration.ofSeconds(60),
                        "60 s; 3600 s when SAGEMAKER_BATCH is true",
                        "How long a request may take; SAGEMAKER_MODEL_SERVER_TIMEOUT counts minutes, as in"
                                + " AWS's own containers",
                        "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS",
                        "SAGEMAKER_MODEL_SERVER_TIMEOUT",
                        "SAGEMAKER_TS_RESPONSE_TIMEOUT",
                        "TS_DEFAULT_RESPONSE_TIMEOUT",
                        "MMS_DEFAULT_RESPONSE_TIMEOUT",
                        "PREDICT_TIMEOUT"),
                reading.fixed(
                        "--stuck-seconds",
                        Syntax.seconds(1),
                        Duration.ofMinutes(2),
                        "How long after its request's deadline a hook that still runs counts as stuck: /ping is"
                                + " 503 when no worker or no thread for hooks is left"));
    }
}
