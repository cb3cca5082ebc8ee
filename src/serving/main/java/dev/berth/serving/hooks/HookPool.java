package dev.berth.serving.hooks;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.error.Unsaid;
import dev.berth.metrics.ModelMetrics;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// Where the hooks of one model run, but for `predictFn`: on platform threads of its own, so that
/// those of one that hangs are not missed by the others. The deadline is kept by the thread that
/// waits for a hook.
///
/// Hooks of large requests have a lane of their own, so small requests always find a thread. In each
/// lane two hooks more than there are cores run at first, because more of them take the cores from
/// each other. Hooks may wait for other services, so there is one more for each hook that has waited
/// for [#PATIENCE_NANOS], up to [#MOST], until none runs.
///
/// A hook leaves its place to another one while it waits for memory, and when it is stuck: it was
/// interrupted at its deadline and still runs long after that. When too many are stuck, the model
/// runs no more until one ends.
///
/// May be used by any thread. The monitor guards where each hook is, so that an interrupt meets that
/// hook and no later one on the same thread.
public final class HookPool implements AutoCloseable {

    private static final int MOST = 32;

    private static final int USUAL = Math.min(MOST, Runtime.getRuntime().availableProcessors() + 2);

    /// Hooks of a lane that have left their place, beside which others run.
    private static final int MOST_AWAY = 128;

    /// In a lane. It is more than the queue of a model holds; beyond it, a request is rejected at once.
    private static final int MOST_WAITING = 2000;

    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private static final ThreadLocal<HookPool.Run<?>> CURRENT = new ThreadLocal<>();

    private static final Logger log = LoggerFactory.getLogger(HookPool.class);

    private final Hooks<?, ?, ?> hooks;
    private final HookLimits limits;
    private final ModelMetrics metrics;

    /// The lanes say how many there are.
    private final ThreadPoolExecutor threads = new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            1,
            TimeUnit.MINUTES,
            new SynchronousQueue<>(),
            Thread.ofPlatform()
                    .name("berth-hook-", 0)
                    .daemon()
                    .inheritInheritableThreadLocals(false)
                    .factory());

    private final Lane small = new Lane();
    private final Lane large = new Lane();

    /// Counts the hooks that run, those left behind included.
    public final InFlight inside = new InFlight();

    private final AtomicInteger stuck = new AtomicInteger();

    /// Guarded by the monitor.
    private boolean closed;

    /// What is run: one hook, or several one after another.
    public interface Body<T> {

        /// @param entered told what messages call the hook that runs from now on
        T call(Consumer<String> entered) throws Exception;
    }

    /// The hooks of small or of large requests, guarded by the monitor of the pool.
    private static final class Lane {
        private final Set<Run<?>> running = new HashSet<>();

        /// In order of arrival.
        private final Deque<Run<?>> waiting = new ArrayDeque<>();

        /// How many of those that run have left their place.
        private int away;

        /// How many may run beside those.
        private int most = USUAL;

        private boolean growsSoon;

        private boolean hasNext() {
            return running.size() < most + Math.min(away, MOST_AWAY) && !waiting.isEmpty();
        }
    }

    /// @param limits of all models of the process
    public HookPool(Hooks<?, ?, ?> hooks, HookLimits limits, ModelMetrics metrics) {
        this.hooks = hooks;
        this.limits = limits;
        this.metrics = metrics;
    }

    /// Has hooks run as soon as they may.
    ///
    /// @param hook what messages call the first of them
    /// @param logContext what stands on their log lines
    /// @param isLarge whether their request is large, so that they may run for long
    /// @throws ServingException `OVERLOADED` when too many wait already, `NOT_READY` when too many
    ///   are stuck
    public <T> Run<T> start(
            String hook, Deadline deadline, Map<String, String> logContext, boolean isLarge, Body<T> body) {
        requireThreads();
        var run = new Run<>(isLarge ? large : small, hook, deadline, logContext, body);
        synchronized (this) {
            if (closed) {
                throw ErrorType.NOT_READY.because("the model is stopping");
            }
            if (run.lane.waiting.size() == MOST_WAITING) {
                metrics.overloaded.increment();
                throw ErrorType.OVERLOADED.because(
                        "%d requests wait for %s already; try again later".formatted(MOST_WAITING, hook));
            }
            run.lane.waiting.add(run);
            dispatch(run.lane);
        }
        return run;
    }

    /// Has a hook run that is no part of an invocation.
    public <T> Run<T> start(String hook, Deadline deadline, Map<String, String> logContext, Callable<T> call) {
        return start(hook, deadline, logContext, false, _ -> call.call());
    }

    /// Gives a thread to each hook that has a place. The monitor is held.
    private void dispatch(Lane lane) {
        try {
            while (lane.hasNext()) {
                threads.execute(lane.waiting.getFirst());
                lane.running.add(lane.waiting.removeFirst());
            }
            if (!lane.waiting.isEmpty() && !lane.growsSoon) {
                Thread.ofVirtual().name("berth-hook-watch").start(() -> {
                    LockSupport.parkNanos(PATIENCE_NANOS);
                    grow(lane);
                });
                lane.growsSoon = true;
            }
        } catch (OutOfMemoryError e) {
            // There is no memory for a thread. The hooks wait for those that there are.
            metrics.caught(e);
        }
    }

    private synchronized void grow(Lane lane) {
        long late = lane.waiting.stream().takeWhile(Run::hasWaitedForLong).count();
        lane.most = (int) Math.min(MOST, lane.most + late);
        lane.growsSoon = false;
        dispatch(lane);
    }

    /// The next hook for the thread of one that has ended.
    private synchronized Optional<Run<?>> next(Run<?> ended) {
        var lane = ended.lane;
        lane.running.remove(ended);
        lane.away -= ended.isAway ? 1 : 0;
        if (ended.begun) {
            inside.leave();
        }
        if (lane.running.isEmpty()) {
            lane.most = USUAL;
        }
        if (!lane.hasNext()) {
            return Optional.empty();
        }
        var next = lane.waiting.removeFirst();
        lane.running.add(next);
        return Optional.of(next);
    }

    /// Says that the calling hook, if it is one, waits for memory or for its turn: another one may
    /// run in its place.
    public static void leavePlace() {
        var run = CURRENT.get();
        if (run != null) {
            run.leave();
        }
    }

    /// Closes a session that hooks have made, if it wants to be, in no lane: nobody waits for that. The
    /// model is not freed before it ends.
    public void closeSession(Object session) {
        inside.enter();
        try {
            threads.execute(() -> {
                try {
                    hooks.close(session);
                } catch (Throwable e) {
                    notClosed(e);
                } finally {
                    inside.leave();
                }
            });
        } catch (OutOfMemoryError e) {
            inside.leave();
            notClosed(e);
        }
    }

    private void notClosed(Throwable e) {
        metrics.caught(e);
        log.warn("{}: a session could not be closed", metrics.model(), Unsaid.of(e));
    }

    private void countStuck(int more) {
        stuck.addAndGet(more);
        limits.stuck.addAndGet(more);
        metrics.stuckHooks.addAndGet(more);
    }

    /// Looks for hooks that still run `grace` after the deadline of their request.
    ///
    /// @return those that were not known before
    public synchronized List<Run<?>> findStuck(Duration grace) {
        var found = Stream.of(small, large)
                .<Run<?>>flatMap(lane -> lane.running.stream())
                .filter(run -> run.isOverdue(grace))
                .toList();
        found.forEach(run -> {
            run.isStuck = true;
            countStuck(1);
            run.leave();
        });
        return found;
    }

    /// Why no more hooks run; nothing where they do.
    public Optional<String> problem() {
        int now = stuck.get();
        return now < limits.ofModel
                ? Optional.empty()
                : Optional.of("%d hooks of %s do not end; it serves again when fewer than %d are left"
                        .formatted(now, metrics.model(), limits.ofModel));
    }

    /// @throws ServingException `NOT_READY` when no more hooks run
    public void requireThreads() {
        problem().ifPresent(problem -> {
            throw ErrorType.NOT_READY.because(problem);
        });
    }

    /// Takes no more hooks. Those that it has still run, on threads that then end with whatever the
    /// hooks have left in thread-local variables.
    @Override
    public synchronized void close() {
        closed = true;
        threads.setKeepAliveTime(0, TimeUnit.NANOSECONDS);
    }

    /// One hook on its way: it waits for a thread, runs there, and may be cancelled, wait for memory,
    /// or be stuck.
    public final class Run<T> implements Runnable {

        private final Lane lane;
        private final Deadline deadline;
        private final Map<String, String> logContext;
        private final Body<T> body;
        private final long queuedAt = System.nanoTime();

        /// Completed when the hook has ended or will not run. Fails with [ServingException]s only.
        private final CompletableFuture<T> result = new CompletableFuture<>();

        private volatile String hook;

        // Guarded by the monitor of the pool.
        private boolean begun;
        private boolean cancelled;
        private boolean isAway;
        private boolean isStuck;

        /// Null before it runs and after.
        private Thread thread;

        private Run(Lane lane, String hook, Deadline deadline, Map<String, String> logContext, Body<T> body) {
            this.lane = lane;
            this.hook = hook;
            this.deadline = deadline;
            this.logContext = logContext;
            this.body = body;
        }

        public String hook() {
            return hook;
        }

        /// What the hook returns when it has ended, also where [#await] has given it up.
        public CompletableFuture<T> result() {
            return result;
        }

        /// Waits for what the hook returns, and interrupts it at the deadline.
        ///
        /// @throws ServingException what the hook threw, or `DEADLINE_EXCEEDED`
        public T await() {
            try {
                return result.get(deadline.nanosLeft(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException _) {
                throw cancel();
            } catch (InterruptedException e) {
                var _ = cancel();
                throw HookFailure.of(hook, e);
            } catch (ExecutionException e) {
                throw (ServingException) e.getCause();
            }
        }

        /// Interrupts the hook, or keeps it from running at all.
        ///
        /// @return what its caller is told where its time is over
        public ServingException cancel() {
            synchronized (HookPool.this) {
                cancelled = true;
                if (thread != null) {
                    thread.interrupt();
                }
                var late = ErrorType.DEADLINE_EXCEEDED.because("the request's time ran out while "
                        + (begun ? hook + " ran" : "it waited for %s to run".formatted(hook)));
                if (!begun) {
                    lane.waiting.remove(this);
                    result.completeExceptionally(late);
                }
                return late;
            }
        }

        /// Where the hook is; nothing where it does not run.
        public StackTraceElement[] stack() {
            synchronized (HookPool.this) {
                return thread == null ? new StackTraceElement[0] : thread.getStackTrace();
            }
        }

        private boolean hasWaitedForLong() {
            return System.nanoTime() - queuedAt > PATIENCE_NANOS;
        }

        private boolean isOverdue(Duration grace) {
            return !isStuck && thread != null && deadline.nanosLeft() <= -grace.toNanos();
        }

        private void leave() {
            synchronized (HookPool.this) {
                if (!isAway) {
                    isAway = true;
                    lane.away++;
                    dispatch(lane);
                }
            }
        }

        /// On a thread of the pool, which goes on with hooks that wait.
        @Override
        public void run() {
            for (Optional<Run<?>> next = Optional.of(this); next.isPresent(); next = next(next.get())) {
                try {
                    next.get().runBody();
                } catch (Throwable e) {
                    // There may be no memory to say how the hook failed. Its caller waits until the deadline.
                    metrics.caught(e);
                }
            }
        }

        private void runBody() {
            if (!begin()) {
                var _ = cancel();
                return;
            }
            CURRENT.set(this);
            MDC.setContextMap(logContext);
            T value = null;
            ServingException failure = null;
            try {
                value = hooks.within(() -> body.call(next -> hook = next));
            } catch (Throwable e) {
                metrics.caught(e);
                failure = HookFailure.inside(hook, e);
            } finally {
                CURRENT.remove();
                MDC.clear();
                end();
            }
            if (failure == null) {
                result.complete(value);
            } else {
                result.completeExceptionally(failure);
            }
        }

        private boolean begin() {
            synchronized (HookPool.this) {
                begun = !cancelled && !deadline.isOver();
                if (begun) {
                    thread = Thread.currentThread();
                    inside.enter();
                }
                return begun;
            }
        }

        /// No interrupt for this hook comes after.
        private void end() {
            synchronized (HookPool.this) {
                thread = null;
                Thread.interrupted();
                if (isStuck) {
                    countStuck(-1);
                }
            }
        }
    }
}
