package dev.berth.transform;

/// Is told how a job gets on, by any threads.
public interface Progress {

    /// How far the job is.
    void status(JobStatus status);

    /// All that this instance has to do. Until this is known, nobody can say how far the job is.
    ///
    /// @param bytes 0 where the sizes of the objects are not known
    void total(long objects, long bytes);

    /// Records of an object that is under way have been answered and written.
    ///
    /// @param bytes of the object, packed where it is
    void answered(long records, long bytes);

    /// So much of an object was done by an earlier run.
    void passed(long bytes);

    /// An object has come to its end.
    ///
    /// @param bytes of the object that were not told to [#answered]
    void ended(ObjectOutcome outcome, long bytes);
}
