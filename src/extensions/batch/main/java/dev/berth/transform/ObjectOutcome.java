package dev.berth.transform;

/// What became of one object.
///
/// @param key its name below the job's input
/// @param records how many it has; 0 where it was not done
/// @param failure the record and the reason; empty where there is none
public record ObjectOutcome(String key, Status status, long records, double seconds, String failure) {

    /// What was done with an object.
    public enum Status {
        SUCCEEDED,
        /// Its output was there already.
        SKIPPED,
        FAILED
    }
}
