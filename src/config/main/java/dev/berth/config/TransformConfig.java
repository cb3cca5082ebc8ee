package dev.berth.config;

import dev.berth.content.BatchStrategy;
import java.util.Optional;
import java.util.OptionalInt;

/// What matters when the platform runs this container for a batch-transform job.
///
/// @param batch whether it does so now
/// @param maxConcurrentTransforms the job's own value, where its author set one
/// @param batchStrategy the job's own value, where its author set one
/// @param maxPayloadInMb the job's own value, where its author set one; 0 is unlimited
public record TransformConfig(
        boolean batch,
        ExecutionParameters executionParameters,
        OptionalInt maxConcurrentTransforms,
        Optional<BatchStrategy> batchStrategy,
        OptionalInt maxPayloadInMb,
        boolean keepBadRecords,
        boolean trailingNewline) {

    /// What `GET /execution-parameters` answers.
    public enum ExecutionParameters {
        /// `MULTI_RECORD`: what the platform documents.
        SAGEMAKER,
        /// `MultiRecord`: the only spelling that local mode of the SageMaker Python SDK understands.
        LOCAL_MODE,
        /// 404: the job's own values, or the platform's defaults, count.
        OFF
    }

    private enum BadRecords {
        REJECT,
        KEEP
    }

    static TransformConfig read(Reading reading) {
        // The SDK's local mode starts a container with `True`, the platform with `true`. Each reads its
        // own spelling only.
        boolean isLocalMode = "True".equals(reading.environment().get("SAGEMAKER_BATCH"));
        return new TransformConfig(
                isBatch(reading),
                reading.derived(
                        "--execution-parameters",
                        Syntax.oneOf(ExecutionParameters.class),
                        isLocalMode ? ExecutionParameters.LOCAL_MODE : ExecutionParameters.SAGEMAKER,
                        "sagemaker, or local-mode where that has started the container",
                        "What /execution-parameters answers: the platform's spelling, the one of the SDK's"
                                + " local mode, or 404"),
                Reading.number(reading.optional(
                        "max-concurrent-transforms",
                        Syntax.positive(),
                        "not set",
                        "Set by the platform: requests that a job sends at the same time",
                        "SAGEMAKER_MAX_CONCURRENT_TRANSFORMS")),
                reading.optional(
                        "batch-strategy",
                        Syntax.oneOf(BatchStrategy.class, BatchStrategy::name),
                        "not set",
                        "Set by the platform: whether a request holds one record or several",
                        "SAGEMAKER_BATCH_STRATEGY"),
                Reading.number(reading.optional(
                        "transform-max-payload-mb",
                        new Syntax<>(
                                "<MiB>",
                                Syntax.mebibytes().expected(),
                                Syntax.wholeNumber(0, Integer.MAX_VALUE)::read,
                                value -> value == 0 ? "unlimited" : value + " MiB"),
                        "not set",
                        "Set by the platform: the job's own MaxPayloadInMB",
                        "SAGEMAKER_MAX_PAYLOAD_IN_MB")),
                reading.fixed(
                                "--bad-records",
                                Syntax.oneOf(BadRecords.class),
                                BadRecords.REJECT,
                                "Whether a bad line fails its request, or is kept as an error in its own place")
                        == BadRecords.KEEP,
                reading.fixed(
                        "--trailing-newline",
                        Syntax.trueOrFalse(),
                        false,
                        "Whether a response of lines ends in a newline: false for AssembleWith=Line, which adds"
                                + " one, true for None"));
    }

    static boolean isBatch(Reading reading) {
        return reading.fixed(
                "batch",
                Syntax.trueOrFalse(),
                false,
                "Set by the platform: this container runs for a batch-transform job",
                "SAGEMAKER_BATCH");
    }

    /// `BatchStrategy` as `GET /execution-parameters` spells it; empty where that is switched off.
    public Optional<String> spelledStrategy() {
        var strategy = batchStrategy.orElse(BatchStrategy.MULTI_RECORD);
        return switch (executionParameters) {
            case SAGEMAKER -> Optional.of(strategy.name());
            // Local mode hands the value on to a factory that only knows the API's spelling.
            case LOCAL_MODE -> Optional.of(strategy.toString());
            case OFF -> Optional.empty();
        };
    }
}
