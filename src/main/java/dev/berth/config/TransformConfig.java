package dev.berth.config;

import dev.berth.content.BatchStrategy;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/// What matters when the platform runs this container for a batch-transform job.
///
/// @param batch whether it does so now (`SAGEMAKER_BATCH`)
/// @param executionParameters what `GET /execution-parameters` answers
/// @param maxConcurrentTransforms the job's own value, where its author set one
/// @param batchStrategy the job's own value, where its author set one
/// @param maxPayloadInMb the job's own value, where its author set one; 0 is unlimited
/// @param keepBadRecords whether a bad record becomes an error in its own place instead of failing
///   its request
/// @param trailingNewline whether a response of lines ends in a newline
public record TransformConfig(
    boolean batch,
    ExecutionParametersAnswer executionParameters,
    OptionalInt maxConcurrentTransforms,
    Optional<BatchStrategy> batchStrategy,
    OptionalInt maxPayloadInMb,
    boolean keepBadRecords,
    boolean trailingNewline) {

  public TransformConfig {
    Objects.requireNonNull(executionParameters, "executionParameters");
    Objects.requireNonNull(batchStrategy, "batchStrategy");
    Require.atLeast("maxConcurrentTransforms", maxConcurrentTransforms, 1);
    Require.atLeast("maxPayloadInMb", maxPayloadInMb, 0);
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
