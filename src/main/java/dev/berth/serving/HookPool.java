package dev.berth.serving;

import dev.berth.batching.Caller;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.metrics.ServingMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.MDC;

/// The platform threads on which `inputFn`, `length` and `outputFn` of all models run: a fixed number, a queue, and a
/// deadline that the request's own thread keeps while it waits.
///
/// A hook that does not end in time is interrupted and left behind. One that still runs long after that is stuck: its
/// thread is replaced, until so many are stuck that the process had better be.
public final class HookPool implements AutoCloseable {

  /// Hooks may wait for other services, so there are more threads than cores.
  private static final int THREADS = 32;
  /// How many stuck threads are replaced.
  private static final int SPARES = 8;
  /// More than the queue of a model holds; beyond it, a request is refused at once.
  private static final int MOST_WAITING = 2000;
  /// A hook that reads a large body while it arrives has a thread, but does not count as one of those that run.
  private static final int MOST_THREADS = 256;

  private final int threads;
  private final int spares;
  private final ServingMetrics metrics;
  private final ForkJoinPool pool;
  private final AtomicInteger waiting = new AtomicInteger();
  private final Set<Run> running = ConcurrentHashMap.newKeySet();
  private final AtomicInteger stuck = new AtomicInteger();

  /// What hooks of one model have in common.
  ///
  /// @param classes where libraries that look for services find those of the hooks
  /// @param inside counts the hooks that run, those left behind included
  record Scope(ClassLoader classes, InFlight inside) {}

  /// A hook that runs: `now` is told which one it is, where a call is of several.
  interface Call<T> {
    T run(Run now) throws Exception;
  }

  public HookPool(ServingMetrics metrics) {
    this(THREADS, SPARES, metrics);
  }

  HookPool(int threads, int spares, ServingMetrics metrics) {
    this.threads = threads;
    this.spares = spares;
    this.metrics = metrics;
    this.pool = new ForkJoinPool(
        threads, HookThread::new, null, true, 0, MOST_THREADS + spares, threads, _ -> true, 1, TimeUnit.MINUTES);
  }

  /// Runs a hook and waits for it, at most until the deadline.
  ///
  /// @throws ServingException when it does not end before, or too many wait already
  /// @throws ExecutionException with what it threw
  <T> T call(Scope scope, String hook, Caller caller, Deadline deadline, Call<T> call)
      throws InterruptedException, ExecutionException {
    if (waiting.get() >= MOST_WAITING) {
      metrics.requestOverloaded();
      throw new ServingException(ErrorType.OVERLOADED,
          "%d requests wait for %s already; try again later".formatted(MOST_WAITING, hook));
    }
    var run = new Run(scope, hook, caller, deadline);
    var task = new FutureTask<>(() -> call.run(run));
    waiting.incrementAndGet();
    pool.execute(() -> run.with(task));
    try {
      return task.get(deadline.nanosLeft(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      var doing = run.doing();
      task.cancel(true);
      throw new ServingException(ErrorType.DEADLINE_EXCEEDED, "the request's time ran out while " + doing, e);
    } catch (InterruptedException e) {
      task.cancel(true);
      throw e;
    }
  }

  /// Whether a thread is left that is not stuck.
  public boolean hasThreads() {
    return stuck.get() < threads + spares;
  }

  /// Looks for hooks that still run `grace` after the deadline of their request, and replaces their threads.
  ///
  /// @return those that were not known before
  List<Run> findStuck(Duration grace) {
    var found = new ArrayList<Run>();
    for (var run : running) {
      if (run.deadline.nanosLeft() <= -grace.toNanos() && run.markStuck()) {
        found.add(run);
      }
    }
    return found;
  }

  @Override
  public void close() {
    pool.shutdownNow();
  }

  private void replace(int change) {
    pool.setParallelism(threads + Math.min(spares, stuck.addAndGet(change)));
    try {
      // The pool wakes a thread when something is submitted, and not when there may be more of them.
      pool.execute(() -> {});
    } catch (RejectedExecutionException _) {
      // It is closed, and nothing waits for a thread any more.
    }
  }

  /// A hook on its thread.
  final class Run {

    private final Scope scope;
    private final Caller caller;
    private final Deadline deadline;
    private volatile String hook;
    private volatile Thread thread;
    /// Guarded by the monitor of this.
    private boolean isStuck;
    private boolean hasEnded;

    private Run(Scope scope, String hook, Caller caller, Deadline deadline) {
      this.scope = scope;
      this.hook = hook;
      this.caller = caller;
      this.deadline = deadline;
    }

    /// The hook that runs, as messages call it.
    String hook() {
      return hook;
    }

    /// Another hook runs from now on.
    void enters(String next) {
      hook = next;
    }

    Thread thread() {
      return thread;
    }

    private String doing() {
      return thread == null ? "it waited for %s to run".formatted(hook) : hook + " ran";
    }

    private void with(FutureTask<?> task) {
      waiting.decrementAndGet();
      if (task.isCancelled()) {
        return;
      }
      thread = Thread.currentThread();
      var outer = thread.getContextClassLoader();
      scope.inside.enter();
      running.add(this);
      try {
        MDC.setContextMap(caller.logContext());
        thread.setContextClassLoader(scope.classes);
        task.run();
      } finally {
        MDC.clear();
        thread.setContextClassLoader(outer);
        Thread.interrupted();
        running.remove(this);
        end();
        scope.inside.leave();
      }
    }

    private synchronized boolean markStuck() {
      if (isStuck || hasEnded) {
        return false;
      }
      isStuck = true;
      metrics.hookStuck();
      replace(1);
      return true;
    }

    private synchronized void end() {
      hasEnded = true;
      if (isStuck) {
        metrics.hookUnstuck();
        replace(-1);
      }
    }
  }

  /// Without thread locals from one task to the next, so that what a hook leaves in one does not keep its classes.
  private static final class HookThread extends ForkJoinWorkerThread {

    private static final AtomicInteger NUMBER = new AtomicInteger();

    HookThread(ForkJoinPool pool) {
      super(null, pool, false);
      setName("berth-hook-" + NUMBER.getAndIncrement());
      setDaemon(true);
    }
  }
}
