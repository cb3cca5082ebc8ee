package dev.berth.serving.hooks;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.slf4j.MDC;

/// One hook on its way: it waits for a thread, runs there, and may be cancelled, wait for memory, or
/// be stuck.
///
/// Its monitor guards where it is, so that an interrupt meets this hook and no later one on the
/// same thread. The monitor of its threads is taken inside it, never the other way round.
public final class HookRun<T> implements Runnable {

    private static final ThreadLocal<HookRun<?>> CURRENT = new ThreadLocal<>();

    /// What is run: one hook, or several one after another.
    public interface Body<T> {

        /// @param entered told what messages call the hook that runs from now on
        T call(Consumer<String> entered) throws Exception;
    }

    private final HookPool pool;
    private final HookThreads threads;
    private final Deadline deadline;
    private final Map<String, String> logContext;
    private final Body<T> body;
    private final long queuedAt = System.nanoTime();

    /// Completed when the hook has ended or will not run. Fails with [ServingException]s only.
    private final CompletableFuture<T> result = new CompletableFuture<>();

    private volatile String hook;

    /// Guarded by the monitor of this, as all that follows.
    private boolean begun;

    private boolean cancelled;
    private boolean isAway;
    private boolean isStuck;

    /// Null before it runs and after.
    private Thread thread;

    /// See [HookPool#start].
    ///
    /// @param threads that it runs on
    HookRun(
            HookPool pool,
            HookThreads threads,
            String hook,
            Deadline deadline,
            Map<String, String> logContext,
            Body<T> body) {
        this.pool = pool;
        this.threads = threads;
        this.hook = hook;
        this.deadline = deadline;
        this.logContext = logContext;
        this.body = body;
    }

    /// Says that the calling hook, if it is one, waits for memory or for its turn: another one may
    /// run in its place.
    public static void leavePlace() {
        var run = CURRENT.get();
        if (run != null) {
            run.leave();
        }
    }

    private synchronized void leave() {
        if (!isAway) {
            isAway = true;
            threads.leavePlace();
        }
    }

    public String hook() {
        return hook;
    }

    boolean waitsLonger(long nanos) {
        return System.nanoTime() - queuedAt > nanos;
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

    /// Where the hook is; nothing where it does not run.
    public synchronized StackTraceElement[] stack() {
        return thread == null ? new StackTraceElement[0] : thread.getStackTrace();
    }

    /// Interrupts the hook, or keeps it from running at all.
    ///
    /// @return what its caller is told where its time is over
    public synchronized ServingException cancel() {
        cancelled = true;
        if (thread != null) {
            thread.interrupt();
        }
        var late = ErrorType.DEADLINE_EXCEEDED.because("the request's time ran out while "
                + (begun ? hook + " ran" : "it waited for %s to run".formatted(hook)));
        if (!begun) {
            threads.remove(this);
            result.completeExceptionally(late);
        }
        return late;
    }

    /// Marks the hook as stuck where it still runs so long after its deadline. Another one runs in
    /// its place.
    ///
    /// @return whether that is new
    synchronized boolean becomesStuck(Duration grace) {
        if (isStuck || thread == null || deadline.nanosLeft() > -grace.toNanos()) {
            return false;
        }
        isStuck = true;
        pool.countStuck(1);
        leave();
        return true;
    }

    @Override
    public void run() {
        if (!begin()) {
            var _ = cancel();
            return;
        }
        pool.inside.enter();
        threads.running.add(this);
        CURRENT.set(this);
        MDC.setContextMap(logContext);
        T value = null;
        ServingException failure = null;
        try {
            value = pool.hooks.within(() -> body.call(next -> hook = next));
        } catch (Throwable e) {
            pool.metrics.caught(e);
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
        pool.inside.leave();
    }

    private synchronized boolean begin() {
        begun = !cancelled && !deadline.isOver();
        thread = begun ? Thread.currentThread() : null;
        return begun;
    }

    /// No interrupt for this hook comes after.
    private synchronized void end() {
        thread = null;
        Thread.interrupted();
        if (isStuck) {
            pool.countStuck(-1);
        }
        threads.ended(this, isAway);
    }
}
