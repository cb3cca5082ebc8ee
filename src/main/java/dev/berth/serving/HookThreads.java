package dev.berth.serving;

import dev.berth.metrics.ServingMetrics;
import java.util.ArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

/// The platform threads on which the hooks of a [HookPool] run: how many there are, and the queue
/// of hooks that wait for one.
///
/// Two more than there are cores run at first. Hooks may wait for other services, so there is one
/// more whenever a hook has waited for a thread for [#PATIENCE_NANOS], up to [#USUAL_MOST], until
/// none runs. With 32 from the start, threads wake each other: hooks that do nothing answered a
/// third less. A virtual thread looks for such hooks while any wait. The requests' own threads
/// could not: each sleeps while its records are in the queue, and its `outputFn` is started
/// meanwhile.
///
/// A stuck hook has its thread replaced, up to [#SPARES] of them where there is one model. A hook
/// that reads has no place among the others either.
///
/// How many there are is guarded by the monitor of the pool, because it follows from what the pool
/// and its [HookTurns] count.
final class HookThreads {

  static final int USUAL_MOST = 32;

  /// Where models share them. One that is alone has half of these, as many as without others.
  static final int SHARED_MOST = 2 * USUAL_MOST;

  /// How many stuck threads are replaced.
  static final int SPARES = 8;

  /// A hook that waits for the rest of a large body does not count, up to so many threads in all.
  static final int MOST = 256;

  /// How long a hook waits for a thread before there is one more.
  private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final HookPool pool;
  private final int usual;
  private final int most;
  private final int spares;
  private final boolean shared;
  private final ServingMetrics metrics;
  private final ThreadFactory factory =
      Thread.ofPlatform()
          .name("berth-hook-", 0)
          .daemon()
          .inheritInheritableThreadLocals(false)
          .factory();

  /// Written under the monitor of the pool.
  private volatile ThreadPoolExecutor executor;

  /// Whether a thread looks after the hooks that wait for one.
  private final AtomicBoolean watched = new AtomicBoolean();

  /// Guarded by the monitor of the pool, for changes.
  private volatile int stuck;

  private volatile int extra;

  /// Guarded by the monitor of the pool.
  private int reading;

  /// @param usual how many run at first
  /// @param most how many there may be, but for the `spares` in the place of stuck ones
  /// @param shared whether there may be several models
  HookThreads(
      HookPool pool, int usual, int most, int spares, boolean shared, ServingMetrics metrics) {
    this.pool = pool;
    this.usual = usual;
    this.most = most;
    this.spares = spares;
    this.shared = shared;
    this.metrics = metrics;
    this.executor = executor(usual);
  }

  /// How many run at first on this machine.
  static int usual() {
    return Math.min(USUAL_MOST, Runtime.getRuntime().availableProcessors() + 2);
  }

  private ThreadPoolExecutor executor(int count) {
    var threads =
        new ThreadPoolExecutor(
            count,
            count,
            1,
            TimeUnit.MINUTES,
            new LinkedBlockingQueue<>(),
            factory,
            (run, _) -> executeAgain(run));
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /// Has a hook that may run wait for a thread.
  void execute(HookRun run) {
    run.queuedAt = System.nanoTime();
    executor.execute(run);
    watch();
  }

  /// Where the threads were replaced meanwhile, the hook runs on the new ones.
  private void executeAgain(Runnable run) {
    synchronized (pool) {
      if (isClosed()) {
        throw new RejectedExecutionException("the server is stopping");
      }
      executor.execute(run);
    }
  }

  /// Hooks that have not begun run on new threads. The others end with their hook, so that nothing
  /// that the hooks of a model have left in thread-local variables outlives them.
  void renew() {
    synchronized (pool) {
      if (!isClosed()) {
        var before = executor;
        executor = executor(before.getCorePoolSize());
        before.shutdown();
        // There they would wait for ever where all threads hang, since none is added any more.
        var waiting = new ArrayList<Runnable>();
        before.getQueue().drainTo(waiting);
        waiting.forEach(executor::execute);
      }
    }
  }

  void close() {
    synchronized (pool) {
      executor.shutdownNow();
    }
  }

  boolean isClosed() {
    return executor.isShutdown();
  }

  /// Whether one is left that is not stuck.
  boolean isOneLeft() {
    return stuck < (shared ? MOST / 2 : most + spares);
  }

  /// Whether there may be no more of them.
  boolean areAllThere() {
    return executor.getPoolSize() >= MOST;
  }

  /// Has a thread look after the hooks that wait, unless one does or none waits.
  private void watch() {
    if (!executor.getQueue().isEmpty() && watched.compareAndSet(false, true)) {
      try {
        Thread.ofVirtual()
            .name("berth-hook-watch")
            .inheritInheritableThreadLocals(false)
            .start(this::growWhileAnyWaits);
      } catch (OutOfMemoryError e) {
        // The hook has its place in the queue. The next one that waits has the thread started.
        metrics.caught(e);
        watched.set(false);
      }
    }
  }

  private void growWhileAnyWaits() {
    while (!executor.getQueue().isEmpty()) {
      LockSupport.parkNanos(PATIENCE_NANOS);
      try {
        grow(late());
      } catch (OutOfMemoryError e) {
        // The hooks go on without another thread.
        metrics.caught(e);
      }
    }
    watched.set(false);
    // One may have come since the last look.
    watch();
  }

  /// How many hooks have waited for a thread for too long. It takes the monitor of each, so whoever
  /// calls it must not hold the pool's.
  private int late() {
    long before = System.nanoTime() - PATIENCE_NANOS;
    return (int)
        executor.getQueue().stream()
            .map(HookRun.class::cast)
            .takeWhile(run -> run.queuedAt - before <= 0)
            .filter(HookRun::isWaiting)
            .count();
  }

  /// More threads, as long as there may be more.
  private void grow(int more) {
    synchronized (pool) {
      int added = Math.min(more, Math.max(most, pool.turns.taken()) - usual - extra);
      if (added > 0) {
        extra += added;
        resize();
      }
    }
  }

  /// Those that were added go when no hook runs.
  void shrink() {
    if (extra > 0 && pool.running.isEmpty()) {
      synchronized (pool) {
        extra = 0;
        resize();
      }
    }
  }

  /// More or fewer hooks are stuck or read.
  void count(int stuckMore, int readingMore) {
    synchronized (pool) {
      stuck += stuckMore;
      reading += readingMore;
      resize();
    }
  }

  /// Stuck hooks have no place among the others, up to as many as are replaced, and neither have
  /// those that read.
  private void resize() {
    int replaced = shared ? MOST : most + spares;
    int threads = Math.min(MOST, Math.min(replaced, usual + extra + stuck) + reading);
    if (threads > executor.getCorePoolSize()) {
      executor.setMaximumPoolSize(threads);
      executor.setCorePoolSize(threads);
    } else {
      executor.setCorePoolSize(threads);
      executor.setMaximumPoolSize(threads);
    }
  }
}
