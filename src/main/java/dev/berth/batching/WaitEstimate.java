package dev.berth.batching;

import java.time.Duration;

/// How long what waits will take, from what batches took while others waited. Guarded by the lock of the [WorkerPool].
///
/// It counts by length and not by record: a question of 400 tokens says nothing of how long one of 20 takes.
final class WaitEstimate {

  /// Over how many batches the average is taken.
  private static final int MEMORY = 16;

  /// What a unit of length takes on one worker; 0: not known.
  private double nanosPerUnit;

  /// Takes down a batch. One that nobody waited behind is no measure: it was not full, and may have had more cores.
  void record(Batch<?, ?> batch, long now) {
    if (batch.hasFollowers()) {
      double latest = (double) (now - batch.startedAt()) / Math.max(1, batch.lengths());
      nanosPerUnit += nanosPerUnit == 0 ? latest : (latest - nanosPerUnit) / MEMORY;
    }
  }

  /// Forgets what it knows. What comes after a pause may be of another kind, and there is nothing to refuse for it.
  void forget() {
    nanosPerUnit = 0;
  }

  /// @param length of what is predicted before, all together
  Duration of(long length, int workers) {
    return Duration.ofNanos((long) (length * nanosPerUnit / workers));
  }
}
