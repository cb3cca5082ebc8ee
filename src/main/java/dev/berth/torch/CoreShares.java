package dev.berth.torch;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;

/// Shares the cores of the CPU out among the forwards of this process. Used by many threads.
///
/// libgomp keeps a team of threads for each thread that has ever had more than one core, and where all teams together
/// are more than the cores, their threads sleep as soon as they wait for the next part of a forward; to wake them takes
/// longer than most parts do. So teams never grow beyond the cores.
///
/// A team stays when its thread has only one core. The thread that came first should be the worker that answers when
/// requests come one at a time: the teams of all others together leave it more than half of the cores, whatever the load
/// was before.
final class CoreShares {

  private final Map<Thread, Integer> teams = new HashMap<>();
  private Thread first;
  private int running;
  private Thread last;

  /// Begins a forward of the calling thread, which must call [#end].
  ///
  /// A thread that ran the last forward too is alone. Where another one did, there is another to share with, though it
  /// may be between two forwards.
  ///
  /// @param cores that there are
  /// @param most how many the forward is worth
  /// @return how many it should use
  synchronized int begin(int cores, int most) {
    var me = Thread.currentThread();
    running++;
    int sharing = Math.max(running, last == null || last == me ? 1 : 2);
    last = me;
    teams.keySet().removeIf(thread -> !thread.isAlive());
    if (first == null || !first.isAlive()) {
      first = me;
    }
    int available = cores - helpers(thread -> thread != me);
    if (me != first) {
      available = Math.min(available, (cores + 1) / 2 - helpers(thread -> thread != me && thread != first));
    }
    int share = Math.clamp(Math.min(most, cores / sharing), 1, Math.max(1, available));
    if (share > 1) {
      teams.put(me, share);
    }
    return share;
  }

  /// The threads that libgomp keeps for others.
  private int helpers(Predicate<Thread> whose) {
    return teams.entrySet().stream()
        .filter(team -> whose.test(team.getKey())).mapToInt(team -> team.getValue() - 1).sum();
  }

  synchronized void end() {
    running--;
  }
}
