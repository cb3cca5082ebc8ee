package dev.berth.transform;

/// Is told how a job gets on, by any threads.
public interface Progress {

    /// How far the job is.
    void status(JobStatus status);

    /// All that this instance has to do. Until this is known, nobody can say how far the job is.
    ///
    /// @param bytes 0 where the sizes of the objects are not known
    void total(long objects, long bytes);

    /// Something of an object that is under way has been written.
    ///
    /// @param records that were answered; 0 where an earlier run has done it
    /// @param bytes of the object, packed where it is
    void written(long records, long bytes);

    /// An object has come to its end.
    ///
    /// @param bytes of the object that were not told to [#written]
    void ended(ObjectOutcome outcome, long bytes);
}
