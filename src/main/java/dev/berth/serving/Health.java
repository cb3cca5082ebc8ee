package dev.berth.serving;

import dev.berth.serving.hooks.HookPool;
import java.util.Optional;
import java.util.function.Supplier;

/// What `/ping` says: whether this process can answer requests, or should be replaced. May be used
/// by any thread, and never waits.
public final class Health {

  private final Supplier<Optional<String>> models;
  private final HookPool pool;
  private final HeapWatch heap;
  private volatile boolean stopping;

  /// @param models why they can't answer any more; nothing where they can
  public Health(Supplier<Optional<String>> models, HookPool pool, HeapWatch heap) {
    this.models = models;
    this.pool = pool;
    this.heap = heap;
  }

  /// Why it can't; nothing where it can.
  public Optional<String> problem() {
    if (stopping) {
      return Optional.of("the server is stopping");
    }
    var memory = heap.problem();
    if (memory.isPresent()) {
      return memory;
    }
    if (!pool.hasThreads()) {
      return Optional.of("hooks do not end on any of the threads that run them");
    }
    return models.get();
  }

  /// Says from now on that it can't, whatever the models do.
  public void stop() {
    stopping = true;
  }

  public boolean isStopping() {
    return stopping;
  }
}
