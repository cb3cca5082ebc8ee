package dev.berth.batching;

/// What one worker predicts with for one model.
interface Runner {

  /// The number of the one worker that calls [#serve].
  int worker();

  /// Takes what waits, predicts it and says what became of it. Called without the lock.
  void serve() throws InterruptedException;

  /// Frees the model. No worker may be inside [#serve], but the calling one. Only the first call
  /// has an effect.
  void close();

  boolean isClosed();

  /// Whether it takes records that wait. The lock is held, as in the next one.
  default boolean hasRoom() {
    return true;
  }

  /// In how long it has something to do for records that it has taken; zero or less: now;
  /// [Long#MAX_VALUE]: never.
  default long ripeInNanos() {
    return Long.MAX_VALUE;
  }
}
