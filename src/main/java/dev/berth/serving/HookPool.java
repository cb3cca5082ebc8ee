package dev.berth.serving;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.metrics.ServingMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/// Where `inputFn`, `length` and `outputFn` of all models run: it lets hooks in, and knows which of
/// them run, read the rest of a body, or are stuck. The deadline is kept by whoever waits for a
/// hook.
///
/// [HookThreads] has the threads, [HookTurns] says which hooks may go to them, [HookRun] is one
/// hook on its way, and [HookScope] what the hooks of one model have in common. The monitor of this
/// guards the counts of threads, turns and scopes.
///
/// A hook that does not end in time is interrupted and left behind. One that still runs long after
/// that is stuck: its thread is replaced, until so many are stuck that the process had better be.
/// Of several models, one with [HookThreads#SPARES] stuck hooks runs no more of them until one
/// ends.
public final class HookPool implements AutoCloseable {

  /// More than the queue of a model holds; beyond it, a request is rejected at once.
  private static final int MOST_WAITING = 2000;

  /// Of several models, one may have so many hooks that wait for the rest of a body.
  private static final int MOST_READING = HookThreads.MOST / 4;

  final HookTurns turns;
  final HookThreads threads;

  /// How many hooks wait for a thread or for their turn.
  final AtomicInteger waiting = new AtomicInteger();

  final Set<HookRun> running = ConcurrentHashMap.newKeySet();

  private final int spares;
  private final boolean shared;

  /// A pool for one model.
  public HookPool(ServingMetrics metrics) {
    this(HookThreads.usual(), HookThreads.USUAL_MOST, HookThreads.SPARES, false, metrics);
  }

  /// A pool for several models, none of which takes all threads from the others.
  public static HookPool shared(ServingMetrics metrics) {
    return new HookPool(
        HookThreads.usual(), HookThreads.SHARED_MOST, HookThreads.SPARES, true, metrics);
  }

  /// @param usual how many threads run at first
  /// @param most how many there may be, but for the `spares` in the place of stuck ones
  /// @param shared whether there may be several models
  HookPool(int usual, int most, int spares, boolean shared, ServingMetrics metrics) {
    this.spares = spares;
    this.shared = shared;
    this.turns = new HookTurns(this, most, shared, metrics);
    this.threads = new HookThreads(this, usual, most, spares, shared, metrics);
  }

  /// Hooks that have not begun run on new threads, as [HookThreads#renew] says.
  void renew() {
    threads.renew();
  }

  /// Says that the calling hook, if it is one, waits for the rest of its request's body or for
  /// memory: another one may run in its place.
  public static void mayBlock() {
    var run = HookRun.current();
    if (run != null) {
      run.reads();
    }
  }

  /// Whether the calling hook, if it is one, has a thread that others wait for, and there may be no
  /// more of them.
  public static boolean isCrowded() {
    var run = HookRun.current();
    return run != null && run.pool.isCrowdedFor(run.scope);
  }

  private boolean isCrowdedFor(HookScope scope) {
    return (waiting.get() > 0 && threads.areAllThere())
        || (scope.waiting.get() > 0 && !mayRead(scope));
  }

  /// Has a hook run as soon as a thread is free.
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
    requireThreads(scope);
    if (scope.waiting.get() >= MOST_WAITING) {
      scope.metrics.requestOverloaded();
      throw new ServingException(
          ErrorType.OVERLOADED,
          "%d requests wait for %s already; try again later".formatted(MOST_WAITING, hook));
    }
    var run = new HookRun(this, scope, hook, logContext, deadline, large, body);
    run.countWaiting(1);
    try {
      if (turns.take(run)) {
        threads.execute(run);
      }
    } catch (Throwable e) {
      // There may be no memory for a thread.
      run.countWaiting(-1);
      turns.giveBack(run);
      throw e;
    }
    return run;
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
  boolean isLost(HookScope scope) {
    return shared && scope.stuck >= spares;
  }

  /// Whether there may be several models.
  boolean isShared() {
    return shared;
  }

  /// Whether a thread is left that is not stuck.
  public boolean hasThreads() {
    return threads.isOneLeft();
  }

  /// Looks for hooks that still run `grace` after the deadline of their request, and replaces their
  /// threads.
  ///
  /// @return those that were not known before
  List<HookRun> findStuck(Duration grace) {
    var found = new ArrayList<HookRun>();
    for (var run : running) {
      if (run.deadline.nanosLeft() <= -grace.toNanos() && run.markStuck()) {
        found.add(run);
      }
    }
    return found;
  }

  /// Hooks have become stuck or begun to read, or are so no more.
  synchronized void count(HookScope scope, int stuckMore, int readingMore) {
    scope.stuck += stuckMore;
    scope.reading += readingMore;
    threads.count(stuckMore, readingMore);
    if (stuckMore < 0) {
      turns.startWaiting();
    }
  }

  /// Whether a hook that waits for its body may leave its place to another one.
  synchronized boolean mayRead(HookScope scope) {
    return !shared || scope.reading < MOST_READING;
  }

  @Override
  public void close() {
    threads.close();
  }
}
