package dev.berth.serving;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.metrics.ModelMetrics;
import dev.berth.metrics.ServingMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.MDC;

/// The platform threads on which `inputFn`, `length` and `outputFn` of all models run: a bounded
/// number, and a queue. The deadline is kept by whoever waits for a hook.
///
/// Two more than there are cores run at first. Hooks may wait for other services, so there is one
/// more whenever a hook has waited for a thread for [#PATIENCE_NANOS], up to [#THREADS], until none
/// runs. With 32 from the start, threads wake each other: hooks that do nothing answered a third
/// less. A virtual thread looks for such hooks while any wait. The requests' own threads could not:
/// each sleeps while its records are in the queue, and its `outputFn` is started meanwhile.
///
/// Hooks of large requests take at most three quarters of the threads, so that small requests
/// always find one.
///
/// Where several models [share][#shared] the pool, a model has at most half of the threads that the
/// others leave, but always [#LEAST_SHARE]. Hooks beyond that wait in a line of their model. A
/// fixed half would let two models that hang take all.
///
/// A hook that does not end in time is interrupted and left behind. One that still runs long after
/// that is stuck: its thread is replaced, until so many are stuck that the process had better be.
/// Of several models, one with [#SPARES] stuck hooks runs no more of them until one ends.
public final class HookPool implements AutoCloseable {

  private static final int THREADS = 32;

  /// Where models share them. One that is alone has half of these, as many as without others.
  private static final int SHARED_THREADS = 2 * THREADS;

  /// One for large requests and one for small ones.
  private static final int LEAST_SHARE = 2;

  /// How long a hook waits for a thread before there is one more.
  private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /// How many stuck threads are replaced.
  private static final int SPARES = 8;

  /// More than the queue of a model holds; beyond it, a request is rejected at once.
  private static final int MOST_WAITING = 2000;

  /// A hook that waits for the rest of a large body does not count, up to so many threads in all.
  private static final int MOST_THREADS = 256;

  /// Of several models, one may have so many hooks that wait for the rest of a body.
  private static final int MOST_READING = MOST_THREADS / 4;

  private static final ThreadLocal<Run> CURRENT = new ThreadLocal<>();

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

  /// Written under the monitor of this.
  private volatile ThreadPoolExecutor pool;

  private final AtomicInteger waiting = new AtomicInteger();
  private final Set<Run> running = ConcurrentHashMap.newKeySet();

  /// Whether a thread looks after the hooks that wait for one.
  private final AtomicBoolean watched = new AtomicBoolean();

  /// Guarded by the monitor of this, for changes.
  private volatile int stuck;

  private volatile int extra;
  private int reading;

  /// The turns of all models.
  private int turns;

  /// The models whose hooks wait for a turn, the one that goes first in front.
  private final SequencedSet<Scope> lines = new LinkedHashSet<>();

  /// What hooks of one model have in common.
  static final class Scope {

    private final ClassLoader classes;
    private final InFlight inside;
    private final ModelMetrics metrics;
    private final AtomicInteger waiting = new AtomicInteger();

    /// Written under the monitor of the pool.
    private volatile int stuck;

    /// Guarded by the monitor of the pool, as all that follows.
    private int reading;

    private int turns;
    private int largeTurns;
    private final SequencedSet<Run> line = new LinkedHashSet<>();
    private final SequencedSet<Run> largeLine = new LinkedHashSet<>();

    /// @param classes where libraries that look for services find those of the hooks
    /// @param inside counts the hooks that run, those left behind included
    Scope(ClassLoader classes, InFlight inside, ModelMetrics metrics) {
      this.classes = classes;
      this.inside = inside;
      this.metrics = metrics;
    }

    InFlight inside() {
      return inside;
    }
  }

  /// A pool for one model.
  public HookPool(ServingMetrics metrics) {
    this(usual(), THREADS, SPARES, false, metrics);
  }

  /// A pool for several models, none of which takes all threads from the others.
  public static HookPool shared(ServingMetrics metrics) {
    return new HookPool(usual(), SHARED_THREADS, SPARES, true, metrics);
  }

  /// @param usual how many threads run at first
  /// @param most how many there may be, but for the `spares` in the place of stuck ones
  /// @param shared whether there may be several models
  HookPool(int usual, int most, int spares, boolean shared, ServingMetrics metrics) {
    this.usual = usual;
    this.most = most;
    this.spares = spares;
    this.shared = shared;
    this.metrics = metrics;
    this.pool = threads(usual);
  }

  private ThreadPoolExecutor threads(int count) {
    var threads =
        new ThreadPoolExecutor(
            count,
            count,
            1,
            TimeUnit.MINUTES,
            new LinkedBlockingQueue<>(),
            factory,
            (run, _) -> execute(run));
    threads.allowCoreThreadTimeOut(true);
    return threads;
  }

  /// Hooks that have not begun run on new threads. The others end with their hook, so that nothing
  /// that the hooks of a model have left in thread-local variables outlives them.
  synchronized void renew() {
    if (!pool.isShutdown()) {
      var before = pool;
      pool = threads(before.getCorePoolSize());
      before.shutdown();
      // There they would wait for ever where all threads hang, since none is added any more.
      var waiting = new ArrayList<Runnable>();
      before.getQueue().drainTo(waiting);
      waiting.forEach(pool::execute);
    }
  }

  /// Where the threads were replaced meanwhile, the hook runs on the new ones.
  private void execute(Runnable run) {
    var current = pool;
    if (current.isShutdown()) {
      throw new RejectedExecutionException("the server is stopping");
    }
    current.execute(run);
  }

  private static int usual() {
    return Math.min(THREADS, Runtime.getRuntime().availableProcessors() + 2);
  }

  /// Says that the calling hook, if it is one, waits for the rest of its request's body or for
  /// memory: another one may run in its place.
  public static void mayBlock() {
    var run = CURRENT.get();
    if (run != null) {
      run.reads();
    }
  }

  /// Whether the calling hook, if it is one, has a thread that others wait for, and there may be no
  /// more of them.
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
  /// @throws ServingException `OVERLOADED` when too many wait already, `NOT_READY` when too many of
  ///   the model are stuck
  Run start(
      Scope scope,
      String hook,
      Map<String, String> logContext,
      Deadline deadline,
      boolean large,
      Consumer<Run> body) {
    requireThreads(scope);
    if (scope.waiting.get() >= MOST_WAITING) {
      scope.metrics.requestOverloaded();
      throw new ServingException(
          ErrorType.OVERLOADED,
          "%d requests wait for %s already; try again later".formatted(MOST_WAITING, hook));
    }
    var run = new Run(scope, hook, logContext, deadline, large, body);
    run.countWaiting(1);
    try {
      // The small ones of a single model wait in the line of the executor alone.
      if ((!shared && !large) || takeTurn(run)) {
        execute(run);
      }
    } catch (Throwable e) {
      // There may be no memory for a thread.
      run.countWaiting(-1);
      run.giveTurnBack();
      throw e;
    }
    return run;
  }

  /// Why no more hooks of a model run; nothing where they do.
  Optional<String> problem(Scope scope) {
    return isLost(scope)
        ? Optional.of(
            "%d hooks of %s do not end; it serves again when fewer than %d are left"
                .formatted(scope.stuck, scope.metrics.model(), spares))
        : Optional.empty();
  }

  /// @throws ServingException `NOT_READY` when no more hooks of the model run
  void requireThreads(Scope scope) {
    problem(scope)
        .ifPresent(
            problem -> {
              throw new ServingException(ErrorType.NOT_READY, problem);
            });
  }

  private boolean isLost(Scope scope) {
    return shared && scope.stuck >= spares;
  }

  /// Whether there may be several models.
  boolean isShared() {
    return shared;
  }

  /// Whether a thread is left that is not stuck.
  public boolean hasThreads() {
    return stuck < (shared ? MOST_THREADS / 2 : most + spares);
  }

  /// Looks for hooks that still run `grace` after the deadline of their request, and replaces their
  /// threads.
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

  /// Whether a hook may run now; else it waits for its turn.
  private synchronized boolean takeTurn(Run run) {
    run.waitsForTurn = !mayRun(run.scope, run.large);
    if (run.waitsForTurn) {
      line(run).addLast(run);
      lines.addLast(run.scope);
      return false;
    }
    beginTurn(run);
    return true;
  }

  private boolean mayRun(Scope scope, boolean large) {
    int share = shared ? Math.max(LEAST_SHARE, (most - (turns - scope.turns) + 1) / 2) : most;
    return !isLost(scope)
        && scope.turns < share
        && (!large || scope.largeTurns < Math.max(1, share * 3 / 4));
  }

  private void beginTurn(Run run) {
    countTurn(run, 1);
    run.hasTurn = true;
    run.waitsForTurn = false;
  }

  private void countTurn(Run run, int more) {
    turns += more;
    run.scope.turns += more;
    run.scope.largeTurns += run.large ? more : 0;
  }

  /// A hook has ended, waits for something or is stuck: others may run, one of each model in turn.
  private synchronized void endTurn(Run run) {
    countTurn(run, -1);
    startWaiting();
  }

  private synchronized void startWaiting() {
    boolean started = !pool.isShutdown();
    while (started) {
      started = false;
      for (var scope : List.copyOf(lines)) {
        started |= startNext(scope);
      }
    }
  }

  private boolean startNext(Scope scope) {
    var next =
        Stream.of(scope.line, scope.largeLine)
            .filter(line -> !line.isEmpty() && mayRun(scope, line.getFirst().large))
            .map(SequencedSet::getFirst)
            .min(Comparator.comparingLong(run -> run.deadline.nanosLeft()));
    if (next.isEmpty()) {
      return false;
    }
    var run = next.get();
    beginTurn(run);
    try {
      execute(run);
    } catch (OutOfMemoryError e) {
      // There is no memory for a thread. The hook waits until another one ends.
      metrics.caught(e);
      countTurn(run, -1);
      run.hasTurn = false;
      run.waitsForTurn = true;
      return false;
    }
    line(run).remove(run);
    lines.remove(scope);
    if (hasLine(scope)) {
      lines.addLast(scope);
    }
    return true;
  }

  private static boolean hasLine(Scope scope) {
    return !scope.line.isEmpty() || !scope.largeLine.isEmpty();
  }

  /// Takes a hook that nobody waits for out of the line.
  private synchronized void leaveLine(Run run) {
    if (line(run).remove(run)) {
      run.waitsForTurn = false;
      run.countWaiting(-1);
      if (!hasLine(run.scope)) {
        lines.remove(run.scope);
      }
    }
  }

  private static SequencedSet<Run> line(Run run) {
    return run.large ? run.scope.largeLine : run.scope.line;
  }

  private void execute(Run run) {
    run.queuedAt = System.nanoTime();
    pool.execute(run);
    watch();
  }

  /// Has a thread look after the hooks that wait, unless one does or none waits.
  private void watch() {
    if (!pool.getQueue().isEmpty() && watched.compareAndSet(false, true)) {
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
    while (!pool.getQueue().isEmpty()) {
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

  /// How many hooks have waited for a thread for too long.
  private int late() {
    long before = System.nanoTime() - PATIENCE_NANOS;
    return (int)
        pool.getQueue().stream()
            .map(Run.class::cast)
            .takeWhile(run -> run.queuedAt - before <= 0)
            .filter(Run::isWaiting)
            .count();
  }

  /// More threads, as long as there may be more.
  private synchronized void grow(int more) {
    int added = Math.min(more, Math.max(most, turns) - usual - extra);
    if (added > 0) {
      extra += added;
      resize();
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

  private synchronized void count(Scope scope, int stuckMore, int readingMore) {
    stuck += stuckMore;
    scope.stuck += stuckMore;
    reading += readingMore;
    scope.reading += readingMore;
    resize();
    if (stuckMore < 0) {
      startWaiting();
    }
  }

  /// Whether a hook that waits for its body may leave its place to another one.
  private synchronized boolean mayRead(Scope scope) {
    return !shared || scope.reading < MOST_READING;
  }

  /// Stuck hooks have no place among the others, up to as many as are replaced, and neither have
  /// those that read.
  private void resize() {
    int replaced = shared ? MOST_THREADS : most + spares;
    int threads = Math.min(MOST_THREADS, Math.min(replaced, usual + extra + stuck) + reading);
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
    private final boolean large;
    private final Consumer<Run> body;
    private volatile String hook;

    /// Guarded by the monitor of this, as all that follows; null before it runs and after.
    private Thread thread;

    private boolean begun;
    private boolean cancelled;
    private boolean isStuck;
    private boolean isReading;

    /// Whether it is one of those that may run, or waits to be.
    private volatile boolean hasTurn;

    private volatile boolean waitsForTurn;

    /// When it came to wait for a thread; written before it is in the queue.
    private long queuedAt;

    private Run(
        Scope scope,
        String hook,
        Map<String, String> logContext,
        Deadline deadline,
        boolean large,
        Consumer<Run> body) {
      this.scope = scope;
      this.hook = hook;
      this.logContext = logContext;
      this.deadline = deadline;
      this.large = large;
      this.body = body;
    }

    /// The name of its model.
    String model() {
      return scope.metrics.model();
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
    private synchronized boolean isWaiting() {
      return !begun && !cancelled;
    }

    /// Whether the hook runs, or may still come to run.
    synchronized boolean isInside() {
      return thread != null || (!begun && !cancelled && !deadline.isOver());
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
      if (waitsForTurn) {
        leaveLine(this);
      }
      if (thread != null) {
        thread.interrupt();
      }
      return begun ? hook + " ran" : "it waited for %s to run".formatted(hook);
    }

    @Override
    public void run() {
      countWaiting(-1);
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
      scope.metrics.hookStuck();
      count(scope, 1, 0);
      giveTurnBack();
      return true;
    }

    /// No interrupt for this hook comes after.
    private synchronized void end() {
      thread = null;
      Thread.interrupted();
      if (isStuck) {
        scope.metrics.hookUnstuck();
      }
      if (isStuck || isReading) {
        count(scope, isStuck ? -1 : 0, isReading ? -1 : 0);
      }
    }

    private boolean isCrowded() {
      return (waiting.get() > 0 && pool.getPoolSize() >= MOST_THREADS)
          || (scope.waiting.get() > 0 && !mayRead(scope));
    }

    private synchronized void reads() {
      if (!isReading && !mayRead(scope)) {
        return;
      }
      if (!isReading) {
        isReading = true;
        count(scope, 0, 1);
      }
      giveTurnBack();
    }

    private void giveTurnBack() {
      if (hasTurn) {
        hasTurn = false;
        endTurn(this);
      }
    }

    private void countWaiting(int more) {
      waiting.addAndGet(more);
      scope.waiting.addAndGet(more);
    }
  }
}
