package dev.berth.batching;

/// How long the line will take, from how fast it has moved since it was empty last. Guarded by the
/// lock of the [WorkerPool].
///
/// The rate has the number of workers and the turns of other models in it. It counts by length and
/// not by record: a question of 400 tokens says nothing of how long one of 20 takes. A batch that
/// nobody waited behind is no measure: it was not full, and may have had more cores.
final class WaitEstimate {

    /// Over how many batches the averages are taken. Of records that are predicted in steps each is
    /// one: those of a step may all end in the same one, and with 16 in it the averages go up and
    /// down by an eighth.
    private static final int MEMORY = 64;

    /// The time between two batches, and the length of a batch.
    private double nanosBetween;

    private double length;

    /// When the last batch left the line, or the first record that waits now has come.
    private long stillSince;

    /// Whether others have waited since then.
    private boolean hasLine;

    /// Takes down that records have left the line.
    ///
    /// @param taken their length, all together
    /// @param hasFollowers whether others wait behind them
    void moved(long taken, boolean hasFollowers, long now) {
        if (hasLine) {
            nanosBetween += (now - stillSince - nanosBetween) / MEMORY;
            length += (Math.max(1, taken) - length) / MEMORY;
        }
        hasLine = hasFollowers;
        stillSince = now;
    }

    /// The next record is the first one to wait. Records that come after a pause may be of another
    /// kind than those before.
    void lineIsEmpty(long now) {
        nanosBetween = 0;
        length = 0;
        hasLine = false;
        stillSince = now;
    }

    /// For how long the line has not moved.
    long stillFor(long now) {
        return now - stillSince;
    }

    /// In nanoseconds.
    ///
    /// @param before the length of what is predicted before, all together
    long of(long before) {
        return length == 0 ? 0 : (long) (before * (nanosBetween / length));
    }
}
