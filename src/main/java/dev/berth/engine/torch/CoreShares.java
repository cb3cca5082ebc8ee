package dev.berth.engine.torch;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/// Shares the cores of the CPU out among the forwards of this process. Used by many threads.
///
/// A core is never given twice: the threads of one forward wait for each other many times, so one of them that has to
/// share its core with another forward holds up the rest for a time slice of the system again and again. A forward waits
/// until a core is free; it has all that are where nobody else wants one, and its share of them where somebody does.
///
/// A forward on one core runs on the thread that calls; one on several runs on a [CoreTeam]'s, whoever calls. libgomp
/// keeps a team's threads for it, and where those of all teams together are more than the cores, they sleep as soon as
/// they wait for the next part of a forward; to wake them takes longer than most parts do. So teams never grow beyond the
/// cores, and the others leave the first one, which is taken whenever it is free, more than half of them.
final class CoreShares {

  /// So long after its last forward another thread may be between two, while its client reads an answer and asks again.
  private static final long BETWEEN_FORWARDS_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /// Over how many forwards [#company] is taken.
  private static final int MEMORY = 8;

  /// Where fewer forwards than this have company, one after the other on all cores are answered sooner than side by side.
  private static final double USUAL = 0.6;

  /// What a forward has from [#begin] to [#end].
  record Share(Thread caller, int cores, Optional<CoreTeam> team) {

    /// Runs a forward where its cores are, and waits for it. Throws what it throws.
    <T> T run(Supplier<T> forward) {
      Supplier<T> onItsCores = () -> {
        Torch.useCores(cores);
        return forward.get();
      };
      return team.isPresent() ? team.get().run(cores, onItsCores) : onItsCores.get();
    }
  }

  private final LongSupplier clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition coreIsFree = lock.newCondition();
  private final List<CoreTeam> teams = new ArrayList<>();
  private final Set<Share> running = new HashSet<>();
  private int waiting;
  private Thread last;
  private long lastEnd;
  /// The part of the forwards that ended while another one ran or waited.
  private double company;

  /// @param clock in nanoseconds
  CoreShares(LongSupplier clock) {
    this.clock = clock;
  }

  /// Waits until a core is free and takes it, with others where they are to be had.
  ///
  /// @param cores that there are
  /// @param most how many the forward is worth
  /// @return what the calling thread must give to [#end]
  Share begin(int cores, int most) {
    lock.lock();
    try {
      awaitCore(cores);
      int sharing = Math.max(running.size() + waiting + 1, mayReturn() ? 2 : 1);
      int wanted = Math.clamp(Math.min(most, cores / sharing), 1, free(cores));
      var share = wanted == 1 ? alone() : onTeam(cores, wanted);
      running.add(share);
      return share;
    } finally {
      lock.unlock();
    }
  }

  void end(Share share) {
    lock.lock();
    try {
      last = share.caller;
      lastEnd = clock.getAsLong();
      running.remove(share);
      boolean accompanied = waiting > 0 || !running.isEmpty();
      company += ((accompanied ? 1 : 0) - company) / MEMORY;
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
    return cores - running.stream().mapToInt(Share::cores).sum();
  }

  /// Whether another thread ended the last forward and is likely to begin its next in a moment.
  private boolean mayReturn() {
    return company >= USUAL
        && last != null
        && last != Thread.currentThread()
        && clock.getAsLong() - lastEnd < BETWEEN_FORWARDS_NANOS;
  }

  private static Share alone() {
    return new Share(Thread.currentThread(), 1, Optional.empty());
  }

  private Share onTeam(int cores, int wanted) {
    var busy = running.stream().flatMap(share -> share.team.stream()).toList();
    var team = teams.stream().filter(one -> !busy.contains(one)).findFirst()
        .orElseGet(() -> new CoreTeam(teams.size()));
    int size = Math.min(wanted, largest(team, cores));
    if (size <= 1) {
      return alone();
    }
    if (!teams.contains(team)) {
      teams.add(team);
    }
    team.resize(size);
    return new Share(Thread.currentThread(), size, Optional.of(team));
  }

  private int largest(CoreTeam team, int cores) {
    int available = cores - helpers(other -> other != team);
    return team.isFirst()
        ? available
        : Math.min(available, (cores + 1) / 2 - helpers(other -> other != team && !other.isFirst()));
  }

  /// The threads that libgomp keeps for teams beside their own.
  private int helpers(Predicate<CoreTeam> whose) {
    return teams.stream().filter(whose).mapToInt(team -> team.size() - 1).sum();
  }
}
