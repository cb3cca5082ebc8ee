package dev.berth.transform;

import com.fasterxml.jackson.annotation.JsonValue;
import org.apache.commons.text.CaseUtils;

/// How far a job is, in the words of `GetModelInvocationJob`. A job in SageMaker's format knows
/// `InProgress`, `Completed` and `Failed` only.
public enum JobStatus {
  SUBMITTED,
  /// Its input is held against the quotas.
  VALIDATING,
  SCHEDULED,
  IN_PROGRESS,
  COMPLETED,
  /// Some objects of a job in Bedrock's format have no output, others have.
  PARTIALLY_COMPLETED,
  FAILED,
  /// By a signal.
  STOPPED;

  /// As the API spells it.
  @JsonValue
  @Override
  public String toString() {
    return CaseUtils.toCamelCase(name(), true, '_');
  }
}
