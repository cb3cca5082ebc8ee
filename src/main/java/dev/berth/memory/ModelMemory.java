package dev.berth.memory;

/// What the requests of one model hold of the [ProcessMemory], where several models share it: of
/// each part no more than half. Only a request that is alone may have more. So a model whose
/// requests do not end leaves memory to the others.
public final class ModelMemory {

  final Part few = new Part();
  final Part medium = new Part();
  final Part large = new Part();
  final Part arriving = new Part();

  /// What they hold of one budget, whose lock guards it.
  static final class Part {
    private long held;

    void add(long bytes) {
      held += bytes;
    }

    /// Whether a share that holds some of it may hold so many bytes more.
    boolean hasRoom(long heldByShare, long more, long budget) {
      return held == heldByShare || held + more <= budget / 2;
    }
  }
}
