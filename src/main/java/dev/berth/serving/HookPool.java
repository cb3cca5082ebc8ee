package dev.berth.serving;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.metrics.ServingMetrics;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.MDC;

/// The platform threads on which `inputFn`, `length` and `outputFn` of all models run: a bounded number, and a queue. The
/// deadline is kept by whoever waits for a hook.
///
/// Two more than there are cores run at first. Hooks may wait for other services, so there is one more whenever a hook
/// has waited for a thread for [#PATIENCE_NANOS], up to [#THREADS], until none runs. With 32 from the start, threads wake each other:
/// hooks that do nothing answered a third less.
///
/// Hooks of large requests take at most three quarters of the threads, so that small requests always find one.
///
/// A hook that does not end in time is interrupted and left behind. One that still runs long after that is stuck: its
/// thread is replaced, until so many are stuck that the process had better be.
public final class HookPool implements AutoCloseable {

  private static final int THREADS = 32;
  /// How long a hook waits for a thread before there is one more.
  static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
  /// How many stuck threads are replaced.
  private static final int SPARES = 8;
  /// More than the queue of a model holds; beyond it, a request is rejected at once.
  private static final int MOST_WAITING = 2000;
  /// A hook that waits for the rest of a large body does not count, up to so many threads in all.
  private static final int MOST_THREADS = 256;
  private static final ThreadLocal<Run> CURRENT = new ThreadLocal<>();

  private final int usual;
  private final int most;
  private final int mostLarge;
  private final int spares;
  private final ServingMetrics metrics;
  private final ThreadFactory factory =
      Thread.ofPlatform().name("berth-hook-", 0).daemon().inheritInheritableThreadLocals(false).factory();
  /// Written under the monitor of this.
  private volatile ThreadPoolExecutor pool;
  private final AtomicInteger waiting = new AtomicInteger();
  private final Set<Run> running = ConcurrentHashMap.newKeySet();
  /// Guarded by the monitor of this, for changes.
  private volatile int stuck;
  private volatile int extra;
  private int reading;
  private int largeRuns;
  private final Queue<Run> largeWaiting = new ArrayDeque<>();

  /// What hooks of one model have in common.
  ///
  /// @param classes where libraries that look for services find those of the hooks
  /// @param inside counts the hooks that run, those left behind included
  record Scope(ClassLoader classes, InFlight inside) {}

  public HookPool(ServingMetrics metrics) {
    this(Math.min(THREADS, Runtime.getRuntime().availableProcessors() + 2), THREADS, SPARES, metrics);
  }

  /// @param usual how many threads run at first
  /// @param most how many there may be, but for the `spares` in the place of stuck ones
  HookPool(int usual, int most, int spares, ServingMetrics metrics) {
    this.usual = usual;
    this.most = most;
    this.mostLarge = Math.max(1, most * 3 / 4);
    this.spares = spares;
    this.metrics = metrics;
    this.pool = threads(usual);
  }

  private ThreadPoolExecutor threads(int count) {
    var threads = new ThreadPoolExecutor(
        count, count, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>(), factory, (run, executor) -> execute(run, executor));
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /// Hooks that are started from now on run on new threads. The others end when they have no hook left, so that nothing that
  /// the hooks of a model have left in thread-local variables outlives them.
  synchronized void renew() {
    if (!pool.isShutdown()) {
      var before = pool;
      pool = threads(before.getCorePoolSize());
      before.shutdown();
    }
  }

  /// Where the threads were replaced meanwhile, the hook runs on the new ones.
  private void execute(Runnable run, ThreadPoolExecutor refusing) {
    var current = pool;
    if (current == refusing) {
      throw new RejectedExecutionException("the server is stopping");
    }
    current.execute(run);
  }

  /// Says that the calling hook, if it is one, waits for the rest of its request's body or for memory: another one may run
  /// in its place.
  public static void mayBlock() {
    var run = CURRENT.get();
    if (run != null) {
      run.reads();
    }
  }

  /// Whether the calling hook, if it is one, has a thread that others wait for, and there may be no more of them.
  public static boolean isCrowded() {
    var run = CURRENT.get();
    return run != null && run.isCrowded();
  }

  /// Has a hook run as soon as a thread is free.
  ///
  /// @param hook what messages call it
  /// @param logContext what stands on its log lines
  /// @param large whether its request is large, so that it may run for long
  /// @param body calls the hook and must not throw
  /// @throws ServingException `OVERLOADED` when too many wait already
  Run start(
      Scope scope, String hook, Map<String, String> logContext, Deadline deadline, boolean large, Consumer<Run> body) {
    if (waiting.get() >= MOST_WAITING) {
      metrics.requestOverloaded();
      throw new ServingException(ErrorType.OVERLOADED,
          "%d requests wait for %s already; try again later".formatted(MOST_WAITING, hook));
    }
    var run = new Run(scope, hook, logContext, deadline, body);
    waiting.incrementAndGet();
    try {
      if (!large || takeLargeTurn(run)) {
        pool.execute(run);
      }
    } catch (Throwable e) {
      // There may be no memory for a thread.
      waiting.decrementAndGet();
      run.giveTurnBack();
      throw e;
    }
    return run;
  }

  /// Whether a thread is left that is not stuck.
  public boolean hasThreads() {
    return stuck < most + spares;
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
  public synchronized void close() {
    pool.shutdownNow();
  }

  /// Whether a hook of a large request may run now; else it waits for its turn.
  private synchronized boolean takeLargeTurn(Run run) {
    run.waitsForTurn = largeRuns == mostLarge;
    if (run.waitsForTurn) {
      largeWaiting.add(run);
      return false;
    }
    largeRuns++;
    run.hasTurn = true;
    return true;
  }

  /// A hook of a large request has ended or waits for something: the next one may run.
  private synchronized void endLargeTurn() {
    largeRuns--;
    var next = largeWaiting.poll();
    if (next != null && !pool.isShutdown()) {
      largeRuns++;
      next.hasTurn = true;
      next.waitsForTurn = false;
      pool.execute(next);
    }
  }

  /// One more thread, as long as there may be one.
  private synchronized void grow() {
    if (usual + extra < most) {
      extra++;
      try {
        resize();
      } catch (OutOfMemoryError e) {
        // The request goes on without another thread.
        metrics.caught(e);
      }
    }
  }

  private void shrink() {
    if (extra > 0 && running.isEmpty()) {
      synchronized (this) {
        extra = 0;
        resize();
      }
    }
  }

  private synchronized void count(int stuckMore, int readingMore) {
    stuck += stuckMore;
    reading += readingMore;
    resize();
  }

  /// Stuck hooks have no place among the others, up to as many as are replaced, and neither have those that read.
  private void resize() {
    int threads = Math.min(MOST_THREADS, Math.min(most + spares, usual + extra + stuck) + reading);
    if (threads > pool.getCorePoolSize()) {
      pool.setMaximumPoolSize(threads);
      pool.setCorePoolSize(threads);
    } else {
      pool.setCorePoolSize(threads);
      pool.setMaximumPoolSize(threads);
    }
  }

  /// A hook that waits for a thread or runs on one.
  final class Run implements Runnable {

    private final Scope scope;
    private final Map<String, String> logContext;
    private final Deadline deadline;
    private final Consumer<Run> body;
    private volatile String hook;
    /// Guarded by the monitor of this, as all that follows; null before it runs and after.
    private Thread thread;
    private boolean begun;
    private boolean cancelled;
    private boolean isStuck;
    private boolean isReading;
    /// Of a large request: whether it is one of those that may run, or waits to be.
    private volatile boolean hasTurn;
    private volatile boolean waitsForTurn;

    private Run(Scope scope, String hook, Map<String, String> logContext, Deadline deadline, Consumer<Run> body) {
      this.scope = scope;
      this.hook = hook;
      this.logContext = logContext;
      this.deadline = deadline;
      this.body = body;
    }

    /// The hook that runs, as messages call it.
    String hook() {
      return hook;
    }

    /// Another hook runs from now on.
    void enters(String next) {
      hook = next;
    }

    /// Whether it waits for a thread.
    synchronized boolean isWaiting() {
      return !begun && !cancelled;
    }

    /// Says that it has waited for long: there should be another thread.
    void hurry() {
      if (isWaiting() && !waitsForTurn) {
        grow();
      }
    }

    /// Where the hook is; nothing where it does not run.
    synchronized StackTraceElement[] stack() {
      return thread == null ? new StackTraceElement[0] : thread.getStackTrace();
    }

    /// Interrupts the hook, or keeps it from running at all.
    ///
    /// @return what it did until now, to end the sentence "the request's time ran out while …"
    synchronized String cancel() {
      cancelled = true;
      if (thread != null) {
        thread.interrupt();
      }
      return begun ? hook + " ran" : "it waited for %s to run".formatted(hook);
    }

    @Override
    public void run() {
      waiting.decrementAndGet();
      if (!begin()) {
        giveTurnBack();
        return;
      }
      var current = Thread.currentThread();
      var outer = current.getContextClassLoader();
      scope.inside.enter();
      running.add(this);
      CURRENT.set(this);
      try {
        MDC.setContextMap(logContext);
        current.setContextClassLoader(scope.classes);
        body.accept(this);
      } finally {
        CURRENT.remove();
        MDC.clear();
        current.setContextClassLoader(outer);
        running.remove(this);
        end();
        giveTurnBack();
        shrink();
        scope.inside.leave();
      }
    }

    private synchronized boolean begin() {
      begun = !cancelled && !deadline.isOver();
      thread = begun ? Thread.currentThread() : null;
      return begun;
    }

    private synchronized boolean markStuck() {
      if (isStuck || thread == null) {
        return false;
      }
      isStuck = true;
      metrics.hookStuck();
      count(1, 0);
      giveTurnBack();
      return true;
    }

    /// No interrupt for this hook comes after.
    private synchronized void end() {
      thread = null;
      Thread.interrupted();
      if (isStuck) {
        metrics.hookUnstuck();
      }
      if (isStuck || isReading) {
        count(isStuck ? -1 : 0, isReading ? -1 : 0);
      }
    }

    private boolean isCrowded() {
      return waiting.get() > 0 && pool.getPoolSize() >= MOST_THREADS;
    }

    private synchronized void reads() {
      if (!isReading) {
        isReading = true;
        count(0, 1);
      }
      giveTurnBack();
    }

    private void giveTurnBack() {
      if (hasTurn) {
        hasTurn = false;
        endLargeTurn();
      }
    }
  }
}
