package dev.berth.config;

import static dev.berth.config.Syntax.positive;
import static dev.berth.config.Syntax.seconds;

import dev.berth.content.BatchStrategy;
import java.time.Duration;
import java.util.function.Function;

/// How requests wait and are put together, how long answers may take, and what a batch-transform job is
/// told.
public final class ServingConfig implements SettingGroup {

    private static final Settings SETTINGS = Settings.of(ServingConfig.class);

    private static final Syntax<Duration> MILLISECONDS = Syntax.duration("ms", Duration.ofMillis(1), 0);

    /// What `GET /execution-parameters` answers.
    public enum ExecutionParameters {
        /// `MULTI_RECORD`: what the platform documents.
        SAGEMAKER,
        /// `MultiRecord`: the only spelling that local mode of the SageMaker Python SDK understands.
        LOCAL_MODE,
        /// 404: the job's own values, or the platform's defaults, count.
        OFF
    }

    /// What becomes of a line that is wrong.
    public enum BadRecords {
        REJECT,
        KEEP
    }

    /// Whether the platform runs this container for a batch-transform job.
    public static final Setting<Boolean> BATCH = SETTINGS.of("batch", Syntax.trueOrFalse());

    /// `Integer.MAX_VALUE` is unlimited.
    public static final Setting<Integer> QUEUE_CAPACITY =
            SETTINGS.of("queue-capacity", positive(), inJob(Integer.MAX_VALUE, 1000));

    /// Of records. Unset: as the accelerator wants.
    public static final Setting<Integer> MAX_BATCH_SIZE = SETTINGS.of("max-batch-size", positive());

    /// Padded cost of a batch. Unset: as the accelerator wants.
    public static final Setting<Integer> MAX_BATCH_TOKENS = SETTINGS.of("max-batch-tokens", positive());

    public static final Setting<Duration> MAX_BATCH_DELAY = SETTINGS.of("max-batch-delay-ms", MILLISECONDS);

    /// Zero: never.
    public static final Setting<Duration> TARGET_DELAY =
            SETTINGS.of("target-delay-ms", MILLISECONDS, inJob(Duration.ZERO, Duration.ofMillis(300)));

    /// A transform job may ask for InvocationsTimeoutInSeconds up to an hour: the container must not be the
    /// one to give up.
    public static final Setting<Duration> TIMEOUT = SETTINGS.of(
            "timeout",
            seconds(1).in("SAGEMAKER_MODEL_SERVER_TIMEOUT", Syntax.duration("minutes", Duration.ofMinutes(1), 1)),
            inJob(Duration.ofHours(1), Duration.ofSeconds(60)));

    public static final Setting<Duration> STUCK_AFTER = SETTINGS.of("stuck-seconds", seconds(1));

    /// The SDK's local mode starts a container with `True`, the platform with `true`. Each reads its own
    /// spelling only.
    public static final Setting<ExecutionParameters> EXECUTION_PARAMETERS = SETTINGS.of(
            "execution-parameters",
            Syntax.oneOf(ExecutionParameters.class),
            platform -> "True".equals(platform.environment().get("SAGEMAKER_BATCH"))
                    ? ExecutionParameters.LOCAL_MODE
                    : ExecutionParameters.SAGEMAKER);

    /// The values of the job, where its author set them. A payload of 0 is unlimited.
    public static final Setting<Integer> MAX_CONCURRENT_TRANSFORMS =
            SETTINGS.of("max-concurrent-transforms", positive());

    public static final Setting<BatchStrategy> BATCH_STRATEGY =
            SETTINGS.of("batch-strategy", Syntax.oneOf(BatchStrategy.class, BatchStrategy::name));
    public static final Setting<Integer> MAX_PAYLOAD_IN_MB = SETTINGS.of(
            "transform-max-payload-mb",
            new Syntax<>("<MiB>", Syntax.mebibytes().expected(), Integer::valueOf)
                    .where(value -> value >= 0)
                    .shown(value -> value == 0 ? "unlimited" : value + " MiB"));

    public static final Setting<BadRecords> BAD_RECORDS = SETTINGS.of("bad-records", Syntax.oneOf(BadRecords.class));
    public static final Setting<Boolean> TRAILING_NEWLINE = SETTINGS.of("trailing-newline", Syntax.trueOrFalse());

    /// From one part of an answer to the next.
    public static final Setting<Duration> STREAM_PART_TIMEOUT = SETTINGS.of("stream-part-timeout", seconds(1));

    /// Of all parts together.
    public static final Setting<Duration> STREAM_TIMEOUT = SETTINGS.of("stream-timeout", seconds(1));

    /// Of all models together.
    public static final Setting<Integer> MAX_SESSIONS = SETTINGS.of("max-sessions", positive());

    /// In bytes. Unset: a share of the heap.
    public static final Setting<Long> SESSION_MEMORY = SETTINGS.of("session-memory-mb", Syntax.mebibytes());

    private static <T> Function<Platform, T> inJob(T value, T elsewhere) {
        return platform -> BATCH.on(platform).orElseThrow() ? value : elsewhere;
    }
}
