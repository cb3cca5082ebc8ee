package dev.berth.storage;

/// What must be done even where the thread has been interrupted, because that is how a job is cancelled: cleaning up.
final class Uninterrupted {

  private Uninterrupted() {}

  /// Keeps an earlier interrupt from the action. Afterwards the thread is interrupted again.
  static void run(Runnable action) {
    boolean interrupted = Thread.interrupted();
    try {
      action.run();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /// Waits for the end of a thread, however often the caller is interrupted meanwhile.
  static void join(Thread thread) {
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
