package dev.berth.serving;

import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/// What `/ping` says: whether this process can answer requests, or had better be replaced. May be used by any thread, and
/// never waits.
public final class Health {

  private final HookPool pool;
  private final HeapWatch heap;
  private final Supplier<Optional<String>> more;
  private volatile boolean stopping;

  /// With models without which the process is of no use: what keeps one of them from serving counts.
  public Health(ModelRegistry models, HookPool pool, HeapWatch heap) {
    this(pool, heap, () -> models.all().stream().flatMap(model -> model.problem().stream()).findFirst());
  }

  private Health(HookPool pool, HeapWatch heap, Supplier<Optional<String>> more) {
    this.pool = pool;
    this.heap = heap;
    this.more = more;
  }

  /// With models that come and go: only what all of them share counts. What is wrong with one, its own routes say.
  ///
  /// @param workersLeft whether there are threads that predict, or none are needed yet
  public static Health ofProcess(HookPool pool, HeapWatch heap, BooleanSupplier workersLeft) {
    return new Health(pool, heap, () -> workersLeft.getAsBoolean()
        ? Optional.empty()
        : Optional.of("predictFn does not end on too many of the threads that run it"));
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
    return more.get();
  }

  /// Says from now on that it can't, whatever the models do.
  public void stop() {
    stopping = true;
  }

  public boolean isStopping() {
    return stopping;
  }
}
