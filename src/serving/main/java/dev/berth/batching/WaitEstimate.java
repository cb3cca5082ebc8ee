package dev.berth.batching;

import java.time.Duration;

/// How long what waits will take, from what batches took while others waited; or, where records are
/// predicted in steps, from how fast the line has moved. Guarded by the lock of the [WorkerPool].
///
/// It counts by length and not by record: a question of 400 tokens says nothing of how long one of
/// 20 takes.
final class WaitEstimate {

    /// Over how many batches the average is taken.
    private static final int MEMORY = 16;

    /// Over how many records that were begun the average is taken. Those of a batch may all end in
    /// the same step, and with 16 in it the average then goes up and down by an eighth.
    private static final int MEMORY_OF_LINE = 64;

    /// What a unit of length takes on one worker; 0: not known.
    private double nanosPerUnit;

    /// Of records that are begun: the time since the one before, and the length. Averages over
    /// [#MEMORY_OF_LINE].
    private double nanosToBegin;

    private double lengthBegun;

    /// When the last one was begun, or the first that waits now has come.
    private long stillSince;

    /// Whether others have waited since the last one was begun.
    private boolean hasLine;

    private boolean inSteps;

    /// Takes down a batch. One that nobody waited behind is no measure: it was not full, and may have
    /// had more cores.
    void record(Batch<?, ?> batch, long now) {
        if (batch.hasFollowers) {
            double latest = (double) (now - batch.startedAt) / Math.max(1, batch.lengths());
            nanosPerUnit += nanosPerUnit == 0 ? latest : (latest - nanosPerUnit) / MEMORY;
        }
    }

    /// Takes down that a record has left the line to be predicted in steps. How long it is predicted
    /// is up to its reader too. So only the time counts after which there was a place for it, which
    /// also has the turns of other models in it.
    ///
    /// @param hasFollowers whether others wait behind it
    void recordBegun(long length, boolean hasFollowers, long now) {
        if (hasLine) {
            nanosToBegin += (now - stillSince - nanosToBegin) / MEMORY_OF_LINE;
            lengthBegun += (Math.max(1, length) - lengthBegun) / MEMORY_OF_LINE;
        }
        hasLine = hasFollowers;
        stillSince = now;
        inSteps = true;
    }

    /// What comes now is the first one to wait.
    void lineIsEmpty(long now) {
        hasLine = false;
        stillSince = now;
    }

    /// For how long the line has not moved. Zero where no records are predicted in steps.
    Duration stillFor(long now) {
        return inSteps ? Duration.ofNanos(now - stillSince) : Duration.ZERO;
    }

    /// Forgets what it knows. What comes after a pause may be of another kind, and there is nothing
    /// to refuse for it.
    void forget() {
        nanosPerUnit = 0;
        nanosToBegin = 0;
        lengthBegun = 0;
        hasLine = false;
    }

    /// @param length of what is predicted before, all together
    /// @param queues how many models take turns on the workers
    Duration of(long length, int workers, int queues) {
        double nanosToBeginUnit = lengthBegun == 0 ? 0 : nanosToBegin / lengthBegun;
        return Duration.ofNanos((long) (length * (nanosPerUnit * queues / workers + nanosToBeginUnit)));
    }
}
