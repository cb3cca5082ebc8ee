package dev.berth.transform;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;

/// What became of a job, of this instance's part of it.
///
/// @param status the last one that the job came to
/// @param problem what ended the job before all objects were done; empty: nothing
public record JobReport(
        JobStatus status,
        @JsonUnwrapped JobReader.Part part,
        @JsonUnwrapped Tally tally,
        double seconds,
        List<ObjectOutcome> failures,
        String problem) {

    /// What was done.
    ///
    /// @param objects those that were found; succeeded, skipped and failed are as many together
    /// @param records those of the objects that have their output
    /// @param answered the records that this run asked for. They may be fewer, where an earlier run has
    ///   begun, and more, where this one was stopped
    /// @param errors the records that have an error in the place of an answer, those of skipped objects
    ///   of Bedrock's format included
    public record Tally(
            long objects, long succeeded, long skipped, long failed, long records, long answered, long errors) {}

    /// What there is to say of a job that has not ended.
    public static JobReport unfinished(TransformJob job, JobStatus status, String problem) {
        return new JobReport(status, job.part(), new Tally(0, 0, 0, 0, 0, 0, 0), 0, List.of(), problem);
    }

    /// Whether every object has its output.
    public boolean isComplete() {
        return status == JobStatus.COMPLETED;
    }
}
