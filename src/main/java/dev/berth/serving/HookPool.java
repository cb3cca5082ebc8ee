package dev.berth.serving;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.metrics.ServingMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/// Where `inputFn`, `length` and `outputFn` of all models run: so many at a time, each on a
/// platform thread, and the others wait in the line of their model. The deadline is kept by whoever
/// waits for a hook.
///
/// Two more than there are cores run at first, because more of them wake each other. Hooks may wait
/// for other services, so one more runs whenever one has waited for [#PATIENCE_NANOS], until none
/// runs. Of several models, one has at most half of the threads that the others leave, but always
/// [#LEAST_SHARE]: a fixed half would let two models that hang take all. Hooks of large requests
/// take at most three quarters of a model's threads, so that small ones always find one.
///
/// A hook that waits for the rest of its body leaves its turn to another one, and so does one that
/// is stuck: it was interrupted at its deadline and still runs long after that. When too many are
/// stuck, `/ping` is 503. Of several models, one with [#SPARES] stuck hooks runs no more until one
/// ends.
///
/// The monitor of this guards everything here, in [HookRun] and in [HookScope]. No hook runs under
/// it.
public final class HookPool implements AutoCloseable {

  /// How many hooks run at a time. With several models, one that is alone has half of its number.
  private static final int MOST_OF_ONE = 32;

  private static final int MOST_OF_SEVERAL = 2 * MOST_OF_ONE;

  /// How many stuck hooks do not count.
  private static final int SPARES = 8;

  /// Threads in all, with those of hooks that read or are stuck.
  private static final int MOST_THREADS = 256;

  /// More than the queue of a model holds; beyond it, a request is rejected at once.
  private static final int MOST_WAITING = 2000;

  /// Of several models, one may have so many hooks that wait for the rest of a body.
  private static final int MOST_READING = MOST_THREADS / 4;

  /// One for large requests and one for small ones.
  private static final int LEAST_SHARE = 2;

  private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private static final ThreadFactory FACTORY =
      Thread.ofPlatform()
          .name("berth-hook-", 0)
          .daemon()
          .inheritInheritableThreadLocals(false)
          .factory();

  private final int usual;
  private final int most;
  private final int spares;
  private final boolean shared;
  private final ServingMetrics metrics;

  /// Without a queue: whoever has the turn has a thread. The lines are here.
  private volatile ThreadPoolExecutor threads;

  private volatile boolean closed;

  /// How many may run now.
  private int allowed;

  /// How many run that have not left their turn to another one.
  int turns;

  int waiting;
  private int reading;

  /// Read without the monitor too, because `/ping` asks.
  private volatile int stuck;

  /// The models whose hooks wait, the one that goes first in front.
  private final SequencedSet<HookScope> lines = new LinkedHashSet<>();

  final Set<HookRun> running = new LinkedHashSet<>();

  /// Whether a thread looks after the hooks that wait.
  private boolean watched;

  /// A pool for one model.
  public HookPool(ServingMetrics metrics) {
    this(usual(), MOST_OF_ONE, SPARES, false, metrics);
  }

  /// A pool for several models, none of which takes all threads from the others.
  public static HookPool shared(ServingMetrics metrics) {
    return new HookPool(usual(), MOST_OF_SEVERAL, SPARES, true, metrics);
  }

  /// @param usual how many hooks run at a time at first
  /// @param most how many may
  /// @param spares how many stuck ones do not count
  /// @param shared whether there may be several models
  HookPool(int usual, int most, int spares, boolean shared, ServingMetrics metrics) {
    this.usual = usual;
    this.most = most;
    this.spares = spares;
    this.shared = shared;
    this.metrics = metrics;
    this.allowed = usual;
    this.threads = threads();
  }

  private static int usual() {
    return Math.min(MOST_OF_ONE, Runtime.getRuntime().availableProcessors() + 2);
  }

  private ThreadPoolExecutor threads() {
    return new ThreadPoolExecutor(
        0,
        Integer.MAX_VALUE,
        1,
        TimeUnit.MINUTES,
        new SynchronousQueue<>(),
        FACTORY,
        (work, _) -> {
          if (closed) {
            throw new RejectedExecutionException("the server is stopping");
          }
          // They have been replaced in between.
          threads.execute(work);
        });
  }

  /// Has hooks that begin later run on new threads, so that nothing that the hooks of a model have
  /// left in thread-local variables outlives them.
  synchronized void renew() {
    if (!closed) {
      var before = threads;
      threads = threads();
      before.shutdown();
    }
  }

  /// Says that the calling hook, if it is one, waits for the rest of its request's body or for
  /// memory: another one may run in its place.
  public static void mayBlock() {
    var run = HookRun.current();
    if (run != null) {
      run.pool.startAll(run.pool.reads(run));
    }
  }

  private synchronized List<HookRun> reads(HookRun run) {
    if (!run.isReading && !mayRead(run.scope)) {
      return List.of();
    }
    if (!run.isReading) {
      run.isReading = true;
      reading++;
      run.scope.reading++;
    }
    leaveTurn(run);
    return takeTurns();
  }

  private boolean mayRead(HookScope scope) {
    return !shared || scope.reading < MOST_READING;
  }

  /// Whether the calling hook, if it is one, has a thread that others wait for, and there may be no
  /// more of them.
  public static boolean isCrowded() {
    var run = HookRun.current();
    return run != null && run.pool.isCrowdedFor(run.scope);
  }

  private synchronized boolean isCrowdedFor(HookScope scope) {
    return (waiting > 0 && turns + stuck + reading >= MOST_THREADS)
        || (!scope.line.isEmpty() && !mayRead(scope));
  }

  /// Has a hook run as soon as it may.
  ///
  /// @param hook what messages call it
  /// @param logContext what stands on its log lines
  /// @param large whether its request is large, so that it may run for long
  /// @param body calls the hook and must not throw
  /// @throws ServingException `OVERLOADED` when too many wait already, `NOT_READY` when too many of
  ///   the model are stuck
  HookRun start(
      HookScope scope,
      String hook,
      Map<String, String> logContext,
      Deadline deadline,
      boolean large,
      Consumer<HookRun> body) {
    var run = new HookRun(this, scope, hook, logContext, deadline, large, body);
    synchronized (this) {
      requireThreads(scope);
      if (scope.line.size() >= MOST_WAITING) {
        scope.metrics.requestOverloaded();
        throw new ServingException(
            ErrorType.OVERLOADED,
            "%d requests wait for %s already; try again later".formatted(MOST_WAITING, hook));
      }
      if (!mayRun(run)) {
        run.queuedAt = System.nanoTime();
        waiting++;
        scope.line.add(run);
        lines.add(scope);
        watch();
        return run;
      }
      takeTurn(run);
    }
    try {
      execute(run);
    } catch (Throwable e) {
      // There may be no memory for a thread.
      startAll(end(run));
      throw e;
    }
    return run;
  }

  private boolean mayRun(HookRun run) {
    var scope = run.scope;
    int share = shared ? Math.max(LEAST_SHARE, (most - (turns - scope.turns) + 1) / 2) : most;
    return !closed
        && !isLost(scope)
        && turns < allowed
        && turns + stuck < (shared ? MOST_THREADS : most + spares)
        && turns + stuck + reading < MOST_THREADS
        && scope.turns < share
        && (!run.large || scope.largeTurns < Math.max(1, share * 3 / 4));
  }

  private void takeTurn(HookRun run) {
    run.hasTurn = true;
    turns++;
    run.scope.turns++;
    run.scope.largeTurns += run.large ? 1 : 0;
  }

  private void leaveTurn(HookRun run) {
    if (run.hasTurn) {
      run.hasTurn = false;
      turns--;
      run.scope.turns--;
      run.scope.largeTurns -= run.large ? 1 : 0;
      allowed = turns == 0 ? usual : allowed;
    }
  }

  /// Takes those out of the lines that may run now, one of each model in turn. The caller starts
  /// them without the monitor.
  private List<HookRun> takeTurns() {
    if (lines.isEmpty()) {
      return List.of();
    }
    var chosen = new ArrayList<HookRun>();
    for (var next = next(); next.isPresent(); next = next()) {
      var run = next.get();
      leaveLine(run);
      if (lines.contains(run.scope)) {
        lines.addLast(run.scope);
      }
      takeTurn(run);
      chosen.add(run);
    }
    return chosen;
  }

  private Optional<HookRun> next() {
    return turns < allowed
        ? lines.stream().flatMap(scope -> scope.line.stream()).filter(this::mayRun).findFirst()
        : Optional.empty();
  }

  private void leaveLine(HookRun run) {
    if (run.scope.line.remove(run)) {
      waiting--;
      if (run.scope.line.isEmpty()) {
        lines.remove(run.scope);
      }
    }
  }

  private void startAll(List<HookRun> runs) {
    for (var run : runs) {
      try {
        execute(run);
      } catch (OutOfMemoryError e) {
        // There is no memory for a thread. The hook waits until another one ends.
        metrics.caught(e);
        putBack(run);
      }
    }
  }

  private synchronized void putBack(HookRun run) {
    leaveTurn(run);
    waiting++;
    run.scope.line.addFirst(run);
    lines.addFirst(run.scope);
    watch();
  }

  private void execute(HookRun run) {
    var mine = threads;
    mine.execute(() -> work(run, mine));
  }

  /// Runs a hook, and those that have their turn after it where others wait. That saves the time to
  /// wake a thread for each.
  private void work(HookRun first, ThreadPoolExecutor mine) {
    for (var run = first; run != null; ) {
      run.scope.inside().enter();
      try {
        if (begin(run)) {
          run.call();
        }
      } catch (Throwable e) {
        // There may be no memory for what stands around a hook. The others still have their turns.
        metrics.caught(e);
      }
      var next = end(run);
      run.scope.inside().leave();
      boolean goesOn = threads == mine && !next.isEmpty();
      run = goesOn ? next.getFirst() : null;
      startAll(goesOn ? next.subList(1, next.size()) : next);
    }
  }

  private synchronized boolean begin(HookRun run) {
    return run.begin() && running.add(run);
  }

  /// A hook has ended, or does not begin. No interrupt for it comes after.
  ///
  /// @return those that run now
  private synchronized List<HookRun> end(HookRun run) {
    running.remove(run);
    run.end();
    leaveTurn(run);
    if (run.isStuck) {
      run.scope.metrics.hookUnstuck();
      run.scope.stuck--;
      stuck--;
    }
    if (run.isReading) {
      run.scope.reading--;
      reading--;
    }
    return takeTurns();
  }

  /// Interrupts a hook, or keeps it from running at all.
  ///
  /// @return whether it had begun
  synchronized boolean cancel(HookRun run) {
    leaveLine(run);
    return run.cancelled();
  }

  /// Has a thread look after the hooks that wait, unless one does.
  private void watch() {
    if (!watched) {
      try {
        watched = true;
        Thread.ofVirtual()
            .name("berth-hook-watch")
            .inheritInheritableThreadLocals(false)
            .start(this::growWhileAnyWaits);
      } catch (OutOfMemoryError e) {
        // The hook has its place in line. The next one that waits has the thread started.
        metrics.caught(e);
        watched = false;
      }
    }
  }

  private void growWhileAnyWaits() {
    do {
      LockSupport.parkNanos(PATIENCE_NANOS);
      startAll(grow());
    } while (isWatched());
  }

  /// For each hook that has waited for too long, one more may run.
  private synchronized List<HookRun> grow() {
    long before = System.nanoTime() - PATIENCE_NANOS;
    int late =
        (int)
            lines.stream()
                .flatMap(scope -> scope.line.stream())
                .filter(run -> run.queuedAt - before <= 0)
                .count();
    allowed = Math.min(allowed + late, Math.max(most, turns + 1));
    return takeTurns();
  }

  private synchronized boolean isWatched() {
    watched = !lines.isEmpty() && !closed;
    return watched;
  }

  /// Why no more hooks of a model run; nothing where they do.
  Optional<String> problem(HookScope scope) {
    return isLost(scope)
        ? Optional.of(
            "%d hooks of %s do not end; it serves again when fewer than %d are left"
                .formatted(scope.stuck, scope.metrics.model(), spares))
        : Optional.empty();
  }

  /// @throws ServingException `NOT_READY` when no more hooks of the model run
  void requireThreads(HookScope scope) {
    problem(scope)
        .ifPresent(
            problem -> {
              throw new ServingException(ErrorType.NOT_READY, problem);
            });
  }

  /// Whether so many hooks of one of several models are stuck that no more of them run.
  private boolean isLost(HookScope scope) {
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

  /// Looks for hooks that still run `grace` after the deadline of their request. Others run in
  /// their place.
  ///
  /// @return those that were not known before
  List<HookRun> findStuck(Duration grace) {
    List<HookRun> found;
    List<HookRun> next;
    synchronized (this) {
      found =
          running.stream()
              .filter(run -> !run.isStuck && run.deadline.nanosLeft() <= -grace.toNanos())
              .toList();
      for (var run : found) {
        run.isStuck = true;
        run.scope.metrics.hookStuck();
        run.scope.stuck++;
        stuck++;
        leaveTurn(run);
      }
      next = takeTurns();
    }
    startAll(next);
    return found;
  }

  @Override
  public synchronized void close() {
    closed = true;
    threads.shutdownNow();
  }
}
