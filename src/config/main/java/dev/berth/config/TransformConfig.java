package dev.berth.config;

import static dev.berth.config.Reading.number;

import dev.berth.content.BatchStrategy;
import java.util.Optional;
import java.util.OptionalInt;

/// What matters when the platform runs this container for a batch-transform job.
///
/// @param batch whether it does so now
public record TransformConfig(
        boolean batch,
        ExecutionParameters executionParameters,
        OfJob ofJob,
        boolean keepBadRecords,
        boolean trailingNewline) {

    /// The values of the job, where its author set them.
    ///
    /// @param maxPayloadInMb 0 is unlimited
    public record OfJob(
            OptionalInt maxConcurrentTransforms, Optional<BatchStrategy> batchStrategy, OptionalInt maxPayloadInMb) {}

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
                reading.value(
                        "--execution-parameters",
                        Syntax.oneOf(ExecutionParameters.class),
                        isLocalMode ? ExecutionParameters.LOCAL_MODE : ExecutionParameters.SAGEMAKER),
                new OfJob(
                        number(reading.optional("max-concurrent-transforms", Syntax.positive())),
                        reading.optional("batch-strategy", Syntax.oneOf(BatchStrategy.class, BatchStrategy::name)),
                        number(reading.optional(
                                "transform-max-payload-mb",
                                new Syntax<>("<MiB>", Syntax.mebibytes().expected(), Integer::valueOf)
                                        .where(value -> value >= 0)
                                        .shown(value -> value == 0 ? "unlimited" : value + " MiB")))),
                reading.value("--bad-records", Syntax.oneOf(BadRecords.class), BadRecords.REJECT) == BadRecords.KEEP,
                reading.value("--trailing-newline", Syntax.trueOrFalse(), false));
    }

    static boolean isBatch(Reading reading) {
        return reading.value("batch", Syntax.trueOrFalse(), false);
    }

    /// `BatchStrategy` as `GET /execution-parameters` spells it; empty where that is switched off.
    public Optional<String> spelledStrategy() {
        var strategy = ofJob.batchStrategy.orElse(BatchStrategy.MULTI_RECORD);
        return switch (executionParameters) {
            case SAGEMAKER -> Optional.of(strategy.name());
            // Local mode hands the value on to a factory that only knows the API's spelling.
            case LOCAL_MODE -> Optional.of(strategy.toString());
            case OFF -> Optional.empty();
        };
    }
}
