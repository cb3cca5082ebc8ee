package dev.berth.transform.checkpoint;

import java.util.Optional;

/// The answers to an object's records that outlive the job when it is killed.
///
/// Records are counted from 1. Only the thread that reads and writes the object calls it, but for
/// [#arrived].
public interface Checkpoint {

    /// What an earlier run has written for these records.
    Optional<byte[]> answer(long first, int count);

    /// Takes the output of a mini-batch as soon as it is there. Called by many threads, in any order.
    default void arrived(long first, int count, byte[] output) {}

    /// Takes an output when all before it have been taken.
    default void written(long first, int count, byte[] output) {}

    /// Ends it, and keeps what it has: the object can't be done now.
    void keep();

    /// Removes it: the output is there.
    void end();
}
