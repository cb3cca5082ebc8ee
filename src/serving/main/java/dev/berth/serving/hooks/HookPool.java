package dev.berth.serving.hooks;

import dev.berth.batching.SharedThreads;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.error.Unsaid;
import dev.berth.metrics.ModelMetrics;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// Where the hooks of one model run, but for `predictFn`: on threads that all models share. The deadline is
/// kept by the thread that waits for a hook.
///
/// Hooks of large requests have a lane of their own, so small requests always find a thread. A lane hands
/// the threads a few hooks at a time, so models take turns, and has at most [#MOST] of them run at once.
///
/// A hook makes room for another one while it waits for memory, and when it is stuck: it was
/// interrupted at its deadline and still runs long after that. When too many are stuck, the model
/// runs no more until one ends.
///
/// May be used by any thread. The monitor guards where each hook is, so that an interrupt meets that
/// hook and no later one on the same thread.
public final class HookPool implements AutoCloseable {

    private static final int MOST = 32;

    /// Hooks of a lane beside which others run because they wait.
    private static final int MOST_AWAY = 128;

    /// In a lane. It is more than the queue of a model holds; beyond it, a request is rejected at once.
    private static final int MOST_WAITING = 2000;

    private static final ScopedValue<HookPool.Run<?>> CURRENT = ScopedValue.newInstance();

    private static final Logger log = LoggerFactory.getLogger(HookPool.class);

    private final Hooks<?, ?, ?> hooks;
    private final HookThreads threads;
    private final ModelMetrics metrics;

    private final Lane small = new Lane();
    private final Lane large = new Lane();

    /// Counts the hooks that run or will, those left behind included.
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

        /// In order of arrival.
        private final Deque<Run<?>> waiting = new ArrayDeque<>();

        /// How many of them wait for a thread.
        private int sent;

        private final Set<Run<?>> running = new HashSet<>();

        /// How many of those wait, or are stuck.
        private int away;

        private boolean hasNext() {
            return !waiting.isEmpty()
                    && sent < HookThreads.PLACES
                    && sent + running.size() < MOST + Math.min(away, MOST_AWAY);
        }
    }

    /// @param threads of all models of the process
    public HookPool(Hooks<?, ?, ?> hooks, HookThreads threads, ModelMetrics metrics) {
        this.hooks = hooks;
        this.threads = threads;
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
        var run = new Run<>(isLarge ? large : small, hook, deadline, logContext, body);
        change(run.lane, () -> {
            requireOpen();
            if (run.lane.waiting.size() == MOST_WAITING) {
                metrics.overloaded.increment();
                throw ErrorType.OVERLOADED.because(
                        "%d requests wait for %s already; try again later".formatted(MOST_WAITING, hook));
            }
            inside.enter();
            run.lane.waiting.add(run);
        });
        return run;
    }

    /// Runs hooks at once, on the calling thread, whose log context they have. Nobody interrupts them.
    ///
    /// @return nothing where as many run so already as leave a core to others
    /// @throws ServingException what they threw, `DEADLINE_EXCEEDED` where the time is over already, or
    ///   `NOT_READY` when the model stops or too many are stuck
    public <T> Optional<T> runInline(String hook, Deadline deadline, Body<T> body) {
        if (!threads.inline.tryAcquire()) {
            return Optional.empty();
        }
        try {
            return Optional.of(runHere(hook, deadline, body));
        } finally {
            threads.inline.release();
        }
    }

    private <T> T runHere(String hook, Deadline deadline, Body<T> body) {
        synchronized (this) {
            requireOpen();
            if (deadline.isOver()) {
                throw ErrorType.DEADLINE_EXCEEDED.because(
                        "the request's time ran out while it waited for %s to run".formatted(hook));
            }
            inside.enter();
        }
        var entered = new String[] {hook};
        try {
            return hooks.within(() -> body.call(next -> entered[0] = next));
        } catch (Throwable e) {
            metrics.caught(e);
            throw HookFailure.inside(entered[0], e);
        } finally {
            inside.leave();
        }
    }

    /// Has a hook run that is no part of an invocation.
    public <T> Run<T> start(String hook, Deadline deadline, Map<String, String> logContext, Callable<T> call) {
        return start(hook, deadline, logContext, false, _ -> call.call());
    }

    private void requireOpen() {
        requireThreads();
        if (closed) {
            throw ErrorType.NOT_READY.because("the model is stopping");
        }
    }

    /// Changes where hooks are, and has those run whose turn it is then: without the monitor, for which
    /// their threads would wait.
    private void change(Lane lane, Runnable change) {
        var next = new ArrayList<Run<?>>(1);
        synchronized (this) {
            change.run();
            for (; lane.hasNext(); lane.sent++) {
                next.add(lane.waiting.removeFirst());
            }
        }
        next.forEach(Run::send);
    }

    /// Says that the calling hook, if it is one, waits for memory or for its turn: another one may
    /// run in its place.
    public static void leavePlace() {
        if (CURRENT.isBound()) {
            CURRENT.get().leavePlace();
        }
    }

    /// Closes a session that hooks have made, if it wants to be, in no lane: nobody waits for that. The
    /// model is not freed before it ends.
    public void closeSession(Object session) {
        inside.enter();
        try {
            threads.shared.execute(_ -> {
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
        threads.stuck.addAndGet(more);
        metrics.stuckHooks.addAndGet(more);
    }

    /// Looks for hooks that still run `grace` after the deadline of their request.
    ///
    /// @return those that were not known before
    public List<Run<?>> findStuck(Duration grace) {
        List<Run<?>> found;
        synchronized (this) {
            found = Stream.of(small, large)
                    .<Run<?>>flatMap(lane -> lane.running.stream())
                    .filter(run -> run.isOverdue(grace))
                    .toList();
            found.forEach(run -> run.isStuck = true);
            countStuck(found.size());
        }
        found.forEach(Run::leavePlace);
        return found;
    }

    /// Why no more hooks run; nothing where they do.
    public Optional<String> problem() {
        int now = stuck.get();
        return now < threads.mostStuck
                ? Optional.empty()
                : Optional.of("%d hooks of %s do not end; it serves again when fewer than %d are left"
                        .formatted(now, metrics.model(), threads.mostStuck));
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
    public void close() {
        synchronized (this) {
            closed = true;
        }
        threads.shared.renew();
    }

    /// One hook on its way: it waits for a thread, runs there, and may be cancelled, wait for memory,
    /// or be stuck.
    public final class Run<T> {

        private final Lane lane;
        private final Deadline deadline;
        private final Map<String, String> logContext;
        private final Body<T> body;

        /// Completed when the hook has ended or will not run. Fails with [ServingException]s only.
        private final CompletableFuture<T> result = new CompletableFuture<>();

        private volatile String hook;

        // Guarded by the monitor of the pool.
        private SharedThreads.Task task;
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
                boolean isFirst = !cancelled;
                cancelled = true;
                if (thread != null) {
                    thread.interrupt();
                }
                var late = ErrorType.DEADLINE_EXCEEDED.because("the request's time ran out while "
                        + (begun ? hook + " ran" : "it waited for %s to run".formatted(hook)));
                if (!begun && isFirst) {
                    lane.waiting.remove(this);
                    result.completeExceptionally(late);
                    inside.leave();
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

        private boolean isOverdue(Duration grace) {
            return !isStuck && thread != null && deadline.nanosLeft() <= -grace.toNanos();
        }

        /// Makes room for another hook while it runs.
        private void leavePlace() {
            change(lane, () -> {
                if (!isAway && thread != null) {
                    isAway = true;
                    lane.away++;
                    task.leavePlace();
                }
            });
        }

        /// Has it run when there is a thread for it.
        private void send() {
            try {
                threads.shared.execute(this::run);
            } catch (OutOfMemoryError e) {
                metrics.caught(e);
                result.completeExceptionally(HookFailure.inside(hook, e));
                synchronized (HookPool.this) {
                    lane.sent--;
                }
                var _ = cancel();
            }
        }

        private void run(SharedThreads.Task on) {
            if (!begin(on)) {
                var _ = cancel();
                return;
            }
            try {
                runBody();
            } catch (Throwable e) {
                // There may be no memory to say how the hook failed. Its caller waits until the deadline.
                metrics.caught(e);
            } finally {
                leave();
            }
        }

        private void runBody() {
            MDC.setContextMap(logContext);
            T value = null;
            ServingException failure = null;
            try {
                value = ScopedValue.where(CURRENT, this).call(() -> hooks.within(() -> body.call(next -> hook = next)));
            } catch (Throwable e) {
                metrics.caught(e);
                failure = HookFailure.inside(hook, e);
            } finally {
                MDC.clear();
                end();
            }
            if (failure == null) {
                result.complete(value);
            } else {
                result.completeExceptionally(failure);
            }
        }

        private boolean begin(SharedThreads.Task on) {
            change(lane, () -> {
                lane.sent--;
                begun = !cancelled && !deadline.isOver();
                if (begun) {
                    task = on;
                    thread = Thread.currentThread();
                    lane.running.add(this);
                }
            });
            return begun;
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

        /// Its callers know what became of it.
        private void leave() {
            change(lane, () -> {
                lane.running.remove(this);
                lane.away -= isAway ? 1 : 0;
                inside.leave();
            });
        }
    }
}
