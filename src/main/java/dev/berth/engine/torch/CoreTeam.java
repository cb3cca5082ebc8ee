package dev.berth.engine.torch;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Supplier;

/// A thread for forwards on several cores, and the helpers that libgomp starts and keeps for it.
///
/// Where the first team has all cores, each of its threads has one of its own ([CoreAffinity]). The kernel of a virtual
/// machine would otherwise wake them all on one core after a pause, as it takes one that was idle for one that is not
/// there, and they would wait for each other there while other cores have nothing to do. Other teams run when the machine
/// is busier, and go where there is room.
final class CoreTeam {

  private final int number;
  private final String name;
  private final ExecutorService thread;

  /// Guarded by [CoreShares].
  private int size = 1;

  /// How many of its threads have their core; used on its own thread only.
  private int placed = 1;

  /// @param number from 0 on
  CoreTeam(int number) {
    this.number = number;
    this.name = "torch-team-" + number;
    this.thread = Executors.newSingleThreadExecutor(
        Thread.ofPlatform().name(name).daemon().inheritInheritableThreadLocals(false).factory());
  }

  boolean isFirst() {
    return number == 0;
  }

  /// Its thread and its helpers: as many as the last forward had cores, since libgomp lets go of the rest.
  int size() {
    return size;
  }

  void resize(int cores) {
    size = cores;
  }

  /// Runs a forward on the team's thread and waits for it, through interrupts: native code knows none. Throws what the
  /// forward throws.
  ///
  /// @param cores the forward's
  <T> T run(int cores, Supplier<T> forward) {
    var result = thread.submit(() -> {
      var found = forward.get();
      place(cores);
      return found;
    });
    return await(result);
  }

  /// The helpers are there after the first forward that needs them.
  private void place(int cores) {
    if (isFirst() && cores > placed) {
      CoreAffinity.spread(name);
    }
    placed = cores;
  }

  private static <T> T await(Future<T> result) {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return result.get();
        } catch (InterruptedException _) {
          interrupted = true;
        }
      }
    } catch (ExecutionException e) {
      switch (e.getCause()) {
        case RuntimeException problem -> throw problem;
        case Error problem -> throw problem;
        default -> throw new IllegalStateException(e.getCause());
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
