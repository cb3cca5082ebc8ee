package dev.berth.serving;

import dev.berth.metrics.ServingMetrics;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.stream.Stream;

/// Which hooks may go to the threads of a [HookPool] now, and whose turn is next among those that
/// wait.
///
/// Hooks of large requests take at most three quarters of the threads, so that small requests
/// always find one.
///
/// Where several models share the pool, a model has at most half of the threads that the others
/// leave, but always [#LEAST_SHARE]. Hooks beyond that wait in a line of their model. A fixed half
/// would let two models that hang take all.
///
/// All of it is guarded by the monitor of the pool, because a hook that is no longer stuck and the
/// one that runs in its place are counted in one step. The monitor of a [HookRun] is never taken
/// inside: a hook holds its own when it comes here.
final class HookTurns {

  /// One for large requests and one for small ones.
  private static final int LEAST_SHARE = 2;

  private final HookPool pool;
  private final int most;
  private final boolean shared;
  private final ServingMetrics metrics;

  /// The turns of all models.
  private int turns;

  /// The models whose hooks wait for a turn, the one that goes first in front.
  private final SequencedSet<HookScope> lines = new LinkedHashSet<>();

  /// @param most how many threads the hooks share
  /// @param shared whether there may be several models
  HookTurns(HookPool pool, int most, boolean shared, ServingMetrics metrics) {
    this.pool = pool;
    this.most = most;
    this.shared = shared;
    this.metrics = metrics;
  }

  /// How many hooks have their turn. Whoever asks holds the monitor of the pool.
  int taken() {
    return turns;
  }

  /// Whether a hook may run now; else it waits for its turn.
  boolean take(HookRun run) {
    if (!shared && !run.large) {
      // The small ones of a single model wait in the line of the executor alone.
      return true;
    }
    synchronized (pool) {
      run.waitsForTurn = !mayRun(run.scope, run.large);
      if (run.waitsForTurn) {
        line(run).addLast(run);
        lines.addLast(run.scope);
        return false;
      }
      begin(run);
      return true;
    }
  }

  /// A hook has ended, waits for something or is stuck: where it had its turn, others may run.
  void giveBack(HookRun run) {
    if (run.hasTurn) {
      synchronized (pool) {
        if (run.hasTurn) {
          run.hasTurn = false;
          count(run, -1);
          startWaiting();
        }
      }
    }
  }

  /// Takes a hook that nobody waits for out of the line.
  void leaveLine(HookRun run) {
    synchronized (pool) {
      if (line(run).remove(run)) {
        run.waitsForTurn = false;
        run.countWaiting(-1);
        if (!hasLine(run.scope)) {
          lines.remove(run.scope);
        }
      }
    }
  }

  /// Has those that may run now do so, one of each model in turn. Whoever calls it holds the
  /// monitor of the pool.
  void startWaiting() {
    boolean started = !pool.threads.isClosed();
    while (started) {
      started = false;
      for (var scope : List.copyOf(lines)) {
        started |= startNext(scope);
      }
    }
  }

  private boolean startNext(HookScope scope) {
    var next =
        Stream.of(scope.line, scope.largeLine)
            .filter(line -> !line.isEmpty() && mayRun(scope, line.getFirst().large))
            .map(SequencedSet::getFirst)
            .min(Comparator.comparingLong(run -> run.deadline.nanosLeft()));
    if (next.isEmpty()) {
      return false;
    }
    var run = next.get();
    begin(run);
    try {
      pool.threads.execute(run);
    } catch (OutOfMemoryError e) {
      // There is no memory for a thread. The hook waits until another one ends.
      metrics.caught(e);
      count(run, -1);
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

  private boolean mayRun(HookScope scope, boolean large) {
    int share = shared ? Math.max(LEAST_SHARE, (most - (turns - scope.turns) + 1) / 2) : most;
    return !pool.isLost(scope)
        && scope.turns < share
        && (!large || scope.largeTurns < Math.max(1, share * 3 / 4));
  }

  private void begin(HookRun run) {
    count(run, 1);
    run.hasTurn = true;
    run.waitsForTurn = false;
  }

  private void count(HookRun run, int more) {
    turns += more;
    run.scope.turns += more;
    run.scope.largeTurns += run.large ? more : 0;
  }

  private static boolean hasLine(HookScope scope) {
    return !scope.line.isEmpty() || !scope.largeLine.isEmpty();
  }

  private static SequencedSet<HookRun> line(HookRun run) {
    return run.large ? run.scope.largeLine : run.scope.line;
  }
}
