package dev.berth.torch;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/// Shares the cores of the CPU out among the forwards of this process. Used by many threads.
///
/// A core is never given twice: the threads of one forward wait for each other many times, so one of them that has to
/// share its core with another forward holds up the rest for a time slice of the system again and again. A forward waits
/// until a core is free; it has all that are where nobody else wants one, and its share of them where somebody does.
///
/// libgomp keeps a team of threads for each thread that has ever had more than one core, and where all teams together
/// are more than the cores, their threads sleep as soon as they wait for the next part of a forward; to wake them takes
/// longer than most parts do. So teams never grow beyond the cores.
///
/// A team stays when its thread has only one core. The thread that came first should be the worker that answers when
/// requests come one at a time: the teams of all others together leave it more than half of the cores, whatever the load
/// was before.
final class CoreShares {

  /// So long after its last forward another thread may be between two, while its client reads an answer and asks again.
  private static final long BETWEEN_FORWARDS_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final LongSupplier clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition coreIsFree = lock.newCondition();
  private final Map<Thread, Integer> teams = new HashMap<>();
  private final Map<Thread, Integer> shares = new HashMap<>();
  private Thread first;
  private int waiting;
  private Thread last;
  private long lastEnd;

  /// @param clock in nanoseconds
  CoreShares(LongSupplier clock) {
    this.clock = clock;
  }

  /// Begins a forward of the calling thread, which must call [#end]. Waits until a core is free.
  ///
  /// @param cores that there are
  /// @param most how many the forward is worth
  /// @return how many it should use
  int begin(int cores, int most) {
    lock.lock();
    try {
      awaitCore(cores);
      var me = Thread.currentThread();
      int sharing = Math.max(shares.size() + waiting + 1, mayReturn() ? 2 : 1);
      int largest = Math.max(1, Math.min(free(cores), largestTeam(me, cores)));
      int share = Math.clamp(Math.min(most, cores / sharing), 1, largest);
      if (share > 1) {
        teams.put(me, share);
      }
      shares.put(me, share);
      return share;
    } finally {
      lock.unlock();
    }
  }

  void end() {
    lock.lock();
    try {
      last = Thread.currentThread();
      lastEnd = clock.getAsLong();
      shares.remove(last);
      coreIsFree.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /// The forwards that wait for a core.
  int waiting() {
    lock.lock();
    try {
      return waiting;
    } finally {
      lock.unlock();
    }
  }

  private void awaitCore(int cores) {
    waiting++;
    while (free(cores) <= 0) {
      coreIsFree.awaitUninterruptibly();
    }
    waiting--;
  }

  private int free(int cores) {
    return cores - shares.values().stream().mapToInt(share -> share).sum();
  }

  /// Whether another thread ended the last forward and may be about to begin its next.
  private boolean mayReturn() {
    return last != null
        && last != Thread.currentThread()
        && clock.getAsLong() - lastEnd < BETWEEN_FORWARDS_NANOS;
  }

  private int largestTeam(Thread me, int cores) {
    teams.keySet().removeIf(thread -> !thread.isAlive());
    if (first == null || !first.isAlive()) {
      first = me;
    }
    int available = cores - helpers(thread -> thread != me);
    return me == first
        ? available
        : Math.min(available, (cores + 1) / 2 - helpers(thread -> thread != me && thread != first));
  }

  /// The threads that libgomp keeps for others.
  private int helpers(Predicate<Thread> whose) {
    return teams.entrySet().stream()
        .filter(team -> whose.test(team.getKey())).mapToInt(team -> team.getValue() - 1).sum();
  }
}
