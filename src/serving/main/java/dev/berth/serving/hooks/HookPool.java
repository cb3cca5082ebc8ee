package dev.berth.serving.hooks;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.metrics.ServingMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/// Where `inputFn`, `length` and `outputFn` of all models run: so many at a time, each on a
/// platform thread. The deadline is kept by whoever waits for a hook.
///
/// Two threads more than there are cores run at first, because more of them take the cores from
/// each other. Hooks may wait for other services, so there is one more whenever one has waited for
/// [#PATIENCE_NANOS], until none runs.
///
/// Hooks of large requests take at most three quarters of the threads, so that small ones always
/// find one. Of several models, one has at most half of the threads that the others leave, but
/// always [#LEAST_SHARE]: a fixed half would let two models that hang take all. What may not run
/// yet waits for its turn in the line of its model.
///
/// A hook that waits for the rest of its body leaves its place to another one, and so does one that
/// is stuck: it was interrupted at its deadline and still runs long after that. When too many are
/// stuck, `/ping` is 503. Of several models, one with [#SPARES] stuck hooks runs no more until one
/// ends.
///
/// The monitor of this guards all counts here and in [HookScope], and what [HookRun] says of
/// itself. No hook runs under it.
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

    private static final ThreadFactory FACTORY = Thread.ofPlatform()
            .name("berth-hook-", 0)
            .daemon()
            .inheritInheritableThreadLocals(false)
            .factory();

    private final int usual;
    private final int most;
    private final int spares;
    private final boolean shared;
    private final ServingMetrics metrics;

    /// Written under the monitor.
    private volatile ThreadPoolExecutor threads;

    /// How many threads there are beyond the usual ones, because hooks have waited for too long.
    private volatile int extra;

    /// How many hooks have their turn. The small ones of a single model need none.
    int turns;

    private int reading;

    /// Read without the monitor too, because `/ping` asks.
    private volatile int stuck;

    /// The hooks of each model that wait for a turn, the model that goes first in front.
    private final SequencedMap<HookScope, SequencedSet<HookRun>> lines = new LinkedHashMap<>();

    final Set<HookRun> running = ConcurrentHashMap.newKeySet();

    /// Whether a thread looks after the hooks that wait for one.
    private final AtomicBoolean watched = new AtomicBoolean();

    /// A pool for one model.
    public HookPool(ServingMetrics metrics) {
        this(usual(), MOST_OF_ONE, SPARES, false, metrics);
    }

    /// A pool for several models, none of which takes all threads from the others.
    public static HookPool shared(ServingMetrics metrics) {
        return new HookPool(usual(), MOST_OF_SEVERAL, SPARES, true, metrics);
    }

    /// @param usual how many threads there are at first
    /// @param most how many there may be
    /// @param spares how many stuck ones are replaced
    /// @param shared whether there may be several models
    public HookPool(int usual, int most, int spares, boolean shared, ServingMetrics metrics) {
        this.usual = usual;
        this.most = most;
        this.spares = spares;
        this.shared = shared;
        this.metrics = metrics;
        this.threads = threads(usual);
    }

    private static int usual() {
        return Math.min(MOST_OF_ONE, Runtime.getRuntime().availableProcessors() + 2);
    }

    private ThreadPoolExecutor threads(int count) {
        var made = new ThreadPoolExecutor(
                count, count, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>(), FACTORY, (run, _) -> executeAgain(run));
        made.allowCoreThreadTimeOut(true);
        return made;
    }

    /// Where the threads were replaced meanwhile, the hook runs on the new ones.
    private synchronized void executeAgain(Runnable run) {
        if (isClosed()) {
            throw new RejectedExecutionException("the server is stopping");
        }
        threads.execute(run);
    }

    /// Hooks that have not begun run on new threads. The others end with their hook, so that nothing
    /// that the hooks of a model have left in thread-local variables outlives them.
    public synchronized void renew() {
        if (!isClosed()) {
            var before = threads;
            threads = threads(before.getCorePoolSize());
            before.shutdown();
            // There they would wait for ever where all threads hang, since none is added any more.
            var waiting = new ArrayList<Runnable>();
            before.getQueue().drainTo(waiting);
            waiting.forEach(threads::execute);
        }
    }

    /// Says that the calling hook, if it is one, waits for the rest of its request's body or for
    /// memory: another one may run in its place.
    public static void mayBlock() {
        if (HookRun.current() instanceof Run run) {
            run.pool().reads(run);
        }
    }

    private synchronized void reads(HookRun run) {
        if (!run.isReading && mayRead(run.scope)) {
            run.isReading = true;
            reading++;
            run.scope.reading++;
            resize();
        }
        if (run.isReading) {
            leaveTurn(run);
        }
    }

    private boolean mayRead(HookScope scope) {
        return !shared || scope.reading < MOST_READING;
    }

    /// Has a hook run as soon as it may.
    ///
    /// @param hook what messages call it
    /// @param logContext what stands on its log lines
    /// @param large whether its request is large, so that it may run for long
    /// @param body calls the hook and must not throw
    /// @throws ServingException `OVERLOADED` when too many wait already, `NOT_READY` when too many of
    ///   the model are stuck
    public HookRun start(
            HookScope scope,
            String hook,
            Map<String, String> logContext,
            Deadline deadline,
            boolean large,
            Consumer<HookRun> body) {
        requireThreads(scope);
        var run = new Run(scope, hook, logContext, deadline, large, body);
        if (takeTurn(run)) {
            try {
                execute(run);
            } catch (Throwable e) {
                // There may be no memory for a thread.
                leaveTurn(run);
                throw e;
            }
        }
        return run;
    }

    /// Whether a hook may run now; else it waits for its turn.
    private boolean takeTurn(HookRun run) {
        if (!shared && !run.large) {
            requireRoom(run, threads.getQueue().size());
            return true;
        }
        synchronized (this) {
            requireRoom(run, waiting(run.scope));
            if (!mayRun(run)) {
                lines.computeIfAbsent(run.scope, _ -> new LinkedHashSet<>()).add(run);
                return false;
            }
            begin(run);
            return true;
        }
    }

    /// How many hooks of a model wait for their turn. The monitor is held.
    int waiting(HookScope scope) {
        var line = lines.get(scope);
        return line == null ? 0 : line.size();
    }

    private static void requireRoom(HookRun run, int waiting) {
        if (waiting >= MOST_WAITING) {
            run.scope.metrics.overloaded.increment();
            throw ErrorType.OVERLOADED.because(
                    "%d requests wait for %s already; try again later".formatted(MOST_WAITING, run.hook()));
        }
    }

    private boolean mayRun(HookRun run) {
        var scope = run.scope;
        int share = shared ? Math.max(LEAST_SHARE, (most - (turns - scope.turns) + 1) / 2) : most;
        return !isLost(scope) && scope.turns < share && (!run.large || scope.largeTurns < Math.max(1, share * 3 / 4));
    }

    private void begin(HookRun run) {
        run.hasTurn = true;
        count(run, 1);
    }

    private void count(HookRun run, int more) {
        turns += more;
        run.scope.turns += more;
        run.scope.largeTurns += run.large ? more : 0;
    }

    /// A hook has ended, is not to run, waits for something or is stuck: where it had its turn,
    /// others may run.
    private synchronized void leaveTurn(HookRun run) {
        if (run.hasTurn) {
            run.hasTurn = false;
            count(run, -1);
            startWaiting();
        }
    }

    /// Has those that may run now do so, one of each model in turn.
    private void startWaiting() {
        for (var next = next(); next.isPresent() && !isClosed(); next = next()) {
            var run = next.get();
            begin(run);
            try {
                execute(run);
            } catch (OutOfMemoryError e) {
                // There is no memory for a thread. The hook waits until another one ends.
                metrics.caught(e);
                run.hasTurn = false;
                count(run, -1);
                return;
            }
            leaveLine(run);
            var line = lines.remove(run.scope);
            if (line != null) {
                lines.put(run.scope, line);
            }
        }
    }

    private Optional<HookRun> next() {
        return lines.isEmpty()
                ? Optional.empty()
                : lines.values().stream()
                        .flatMap(SequencedSet::stream)
                        .filter(this::mayRun)
                        .findFirst();
    }

    private void leaveLine(HookRun run) {
        lines.computeIfPresent(run.scope, (_, line) -> line.remove(run) && line.isEmpty() ? null : line);
    }

    /// A hook that has not begun is not to run: it leaves its line, and its turn. Else it would have
    /// that until a thread is free, and no thread is added for it.
    private synchronized void drop(HookRun run) {
        leaveLine(run);
        leaveTurn(run);
    }

    /// A hook is off its thread.
    private void ended(HookRun run) {
        if (run.hasTurn || run.isStuck || run.isReading) {
            synchronized (this) {
                if (run.isStuck) {
                    run.scope.metrics.stuckHooks.decrementAndGet();
                    countStuck(run, -1);
                }
                if (run.isReading) {
                    run.scope.reading--;
                    reading--;
                    resize();
                }
                leaveTurn(run);
                startWaiting();
            }
        }
        if (extra > 0 && running.isEmpty()) {
            synchronized (this) {
                extra = 0;
                resize();
            }
        }
    }

    private synchronized void countStuck(HookRun run, int more) {
        run.scope.stuck += more;
        stuck += more;
        resize();
    }

    private void execute(HookRun run) {
        run.queuedAt = System.nanoTime();
        threads.execute(run);
        watch();
    }

    /// Has a thread look after the hooks that wait for one, unless one does or none waits.
    private void watch() {
        if (!threads.getQueue().isEmpty() && watched.compareAndSet(false, true)) {
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
        while (!threads.getQueue().isEmpty()) {
            LockSupport.parkNanos(PATIENCE_NANOS);
            try {
                grow();
            } catch (OutOfMemoryError e) {
                // The hooks go on without another thread.
                metrics.caught(e);
            }
        }
        watched.set(false);
        // One may have come since the last look.
        watch();
    }

    /// One more thread for each hook that has waited for too long, as long as there may be more.
    private void grow() {
        long before = System.nanoTime() - PATIENCE_NANOS;
        int late = (int) threads.getQueue().stream()
                .map(HookRun.class::cast)
                .takeWhile(run -> run.queuedAt - before <= 0)
                .filter(HookRun::isWaiting)
                .count();
        synchronized (this) {
            int added = Math.min(late, Math.max(most, turns) - usual - extra);
            if (added > 0) {
                extra += added;
                resize();
            }
        }
    }

    /// Stuck hooks have no place among the others, up to as many as are replaced, and neither have
    /// those that read.
    private void resize() {
        int replaced = shared ? MOST_THREADS : most + spares;
        int count = Math.min(MOST_THREADS, Math.min(replaced, usual + extra + stuck) + reading);
        threads.setMaximumPoolSize(Math.max(count, threads.getCorePoolSize()));
        threads.setCorePoolSize(count);
        threads.setMaximumPoolSize(count);
    }

    /// Why no more hooks of a model run; nothing where they do.
    public Optional<String> problem(HookScope scope) {
        return isLost(scope)
                ? Optional.of("%d hooks of %s do not end; it serves again when fewer than %d are left"
                        .formatted(scope.stuck, scope.metrics.model(), spares))
                : Optional.empty();
    }

    /// @throws ServingException `NOT_READY` when no more hooks of the model run
    public void requireThreads(HookScope scope) {
        problem(scope).ifPresent(problem -> {
            throw ErrorType.NOT_READY.because(problem);
        });
    }

    /// Whether so many hooks of one of several models are stuck that no more of them run.
    private boolean isLost(HookScope scope) {
        return shared && scope.stuck >= spares;
    }

    public boolean isShared() {
        return shared;
    }

    /// Why it runs no more hooks of any model; nothing where a thread is left that is not stuck.
    public Optional<String> problem() {
        return stuck < (shared ? MOST_THREADS / 2 : most + spares)
                ? Optional.empty()
                : Optional.of("hooks do not end on any of the threads that run them");
    }

    /// Looks for hooks that still run `grace` after the deadline of their request, and replaces their
    /// threads.
    ///
    /// @return those that were not known before
    public List<HookRun> findStuck(Duration grace) {
        return running.stream()
                .filter(run -> run.deadline.nanosLeft() <= -grace.toNanos() && run.markStuck())
                .toList();
    }

    /// A hook of this pool, which tells it where it is.
    private final class Run extends HookRun {

        private Run(
                HookScope scope,
                String hook,
                Map<String, String> logContext,
                Deadline deadline,
                boolean large,
                Consumer<HookRun> body) {
            super(scope, hook, logContext, deadline, large, body);
        }

        private HookPool pool() {
            return HookPool.this;
        }

        @Override
        void dropped() {
            drop(this);
        }

        /// Called while the hook can't end.
        @Override
        void becameStuck() {
            synchronized (HookPool.this) {
                scope.metrics.stuckHooks.incrementAndGet();
                countStuck(this, 1);
                leaveTurn(this);
            }
        }

        @Override
        void begins() {
            running.add(this);
        }

        @Override
        void leaves() {
            running.remove(this);
        }

        @Override
        void hasEnded() {
            ended(this);
        }
    }

    private boolean isClosed() {
        return threads.isShutdown();
    }

    @Override
    public synchronized void close() {
        threads.shutdownNow();
    }
}
