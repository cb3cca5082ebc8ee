package dev.berth.transform;

import com.fasterxml.jackson.annotation.JsonValue;

/// How far a job is, in the words of `GetModelInvocationJob`. A job in SageMaker's format knows
/// `InProgress`, `Completed`, `Failed`, `Stopping` and `Stopped` only.
public enum JobStatus {
    SUBMITTED("Submitted"),
    /// Its input is held against the quotas.
    VALIDATING("Validating"),
    SCHEDULED("Scheduled"),
    IN_PROGRESS("InProgress"),
    COMPLETED("Completed"),
    /// Some objects of a job in Bedrock's format have no output, others have.
    PARTIALLY_COMPLETED("PartiallyCompleted"),
    FAILED("Failed"),
    /// A signal has come, and what is under way has seven seconds.
    STOPPING("Stopping"),
    STOPPED("Stopped");

    private final String word;

    JobStatus(String word) {
        this.word = word;
    }

    /// As the API spells it.
    @JsonValue
    @Override
    public String toString() {
        return word;
    }
}
