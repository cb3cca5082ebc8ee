package dev.berth.engine.cores;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;

/// Shares the cores of the CPU out among the forwards of this process. Used by many threads.
///
/// A forward waits until a core is free. It gets all cores while no other forward runs or waits,
/// else an equal share. No core is given twice: the threads of one forward wait for each other
/// hundreds of times, and where one of them shares its core, each of these waits may be a time
/// slice of the system. The exception is a forward that others have waited [#PATIENCE_NANOS] for,
/// which may never end: it shares its cores from then on.
///
/// A forward on one core runs on the thread that calls, as do those of an engine with helpers of
/// its own. Another one on several runs on a thread of its own, for which libgomp keeps helpers.
/// With more threads than cores they would sleep between the parts of a forward, and to wake them
/// takes longer than most parts. So all teams together have no more threads than there are cores,
/// and those beside the first one, which is taken whenever it is free, have less than half of them.
final class CoreShares {

    /// From this part on, forwards have company so often that a client which has its answer will ask
    /// again at once. The next forward leaves it half of the cores. Below, one forward after the
    /// other on all cores is sooner done.
    private static final double USUAL = 0.6;

    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition coreIsFree = lock.newCondition();
    private final List<Team> teams = new ArrayList<>();

    /// What runs a forward now, the one that began first in front.
    private final SequencedSet<Team> running = new LinkedHashSet<>();

    private int used;
    private int waiting;

    /// The part of the last eight forwards or so that ended while another one ran or waited.
    private double company;

    /// What runs a forward, from [#begin] until it is closed.
    final class Team implements AutoCloseable {

        private final String name;
        private final Executor thread;

        /// Its thread and its helpers. They stay until its next forward, when libgomp ends those that
        /// are too many.
        int cores;

        private boolean busy;

        /// How many of its cores are no other forward's.
        private int held;

        /// How many of its threads have a core of their own; used on its own thread only.
        private int placed = 1;

        private Team(String name, Executor thread, int cores) {
            this.name = name;
            this.thread = thread;
            this.cores = cores;
        }

        /// Runs a forward and waits for it, through interrupts: native code knows none. Throws what the
        /// forward throws.
        ///
        /// @param forward is told how many cores it may use
        <T> T run(IntFunction<T> forward) {
            try {
                return CompletableFuture.supplyAsync(
                                () -> {
                                    var result = forward.apply(cores);
                                    if (cores > placed && !name.isEmpty()) {
                                        CoreAffinity.spread(name);
                                    }
                                    placed = cores;
                                    return result;
                                },
                                thread)
                        .join();
            } catch (CompletionException e) {
                if (e.getCause() instanceof Error error) {
                    throw error;
                }
                throw (RuntimeException) e.getCause();
            }
        }

        @Override
        public void close() {
            end(this);
        }
    }

    /// Waits until a core is free and takes it, with others where they are to be had. When the time
    /// for that is over, it takes those of the forward that has had its own for longest.
    ///
    /// @param cores that there are
    /// @param most how many the forward is worth
    /// @param helpers whose threads help that which calls
    /// @throws CancellationException when the calling thread is interrupted while it waits: then no
    ///   caller waits for the forward
    Team begin(int cores, int most, HelperThreads helpers) {
        lock.lock();
        try {
            awaitCore(cores);
            int sharing = Math.max(running.size() + waiting + 1, company >= USUAL ? 2 : 1);
            int share = Math.clamp(Math.min(most, cores / sharing), 1, cores - used);
            var team = helpers == HelperThreads.LIBGOMP ? team(cores, share) : calling(share);
            team.busy = true;
            running.add(team);
            team.held = team.cores;
            used += team.held;
            return team;
        } finally {
            lock.unlock();
        }
    }

    private void awaitCore(int cores) {
        waiting++;
        try {
            long left = PATIENCE_NANOS;
            while (used >= cores && left > 0) {
                left = coreIsFree.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (CancellationException)
                    new CancellationException("no caller waits for this forward any more").initCause(e);
        } finally {
            waiting--;
        }
        for (var oldest = running.iterator(); used >= cores; ) {
            share(oldest.next());
        }
    }

    /// Others may have the cores of a forward from now on.
    private void share(Team team) {
        used -= team.held;
        team.held = 0;
    }

    private Team calling(int cores) {
        return new Team("", Runnable::run, cores);
    }

    private Team team(int cores, int wanted) {
        int free = 0;
        while (free < teams.size() && teams.get(free).busy) {
            free++;
        }
        int helpers = 0;
        for (int i = 0; i < teams.size(); i++) {
            helpers += i == free ? 0 : teams.get(i).cores - 1;
        }
        int most = free == 0 ? cores : Math.min(cores, (cores + 1) / 2 + teams.getFirst().cores - 1);
        int size = Math.min(wanted, most - helpers);
        if (size <= 1) {
            return calling(1);
        }
        if (free == teams.size()) {
            var name = "core-team-" + free;
            teams.add(new Team(
                    name,
                    Executors.newFixedThreadPool(
                            1,
                            Thread.ofPlatform()
                                    .name(name)
                                    .daemon()
                                    .inheritInheritableThreadLocals(false)
                                    .factory()),
                    size));
        }
        teams.get(free).cores = size;
        return teams.get(free);
    }

    private void end(Team team) {
        lock.lock();
        try {
            team.busy = false;
            running.remove(team);
            share(team);
            company += ((running.size() + waiting > 0 ? 1 : 0) - company) / 8;
            coreIsFree.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
