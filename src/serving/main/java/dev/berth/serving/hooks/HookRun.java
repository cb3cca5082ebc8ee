package dev.berth.serving.hooks;

import dev.berth.hooks.Metrics;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.MDC;

/// One hook on its way: it waits for a thread, runs there, and may be cancelled, wait for memory, or
/// be stuck.
///
/// Its monitor guards where it is, so that an interrupt meets this hook and no later one on the
/// same thread. The monitor of its threads is taken inside it, never the other way round.
public final class HookRun implements Runnable {

    private static final ThreadLocal<HookRun> CURRENT = new ThreadLocal<>();

    private final HookPool pool;
    private final HookThreads threads;
    private final Deadline deadline;
    private final Map<String, String> logContext;
    private final Consumer<HookRun> body;
    private final long queuedAt = System.nanoTime();
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
            Map<String, String> logContext,
            Deadline deadline,
            Consumer<HookRun> body) {
        this.pool = pool;
        this.threads = threads;
        this.hook = hook;
        this.logContext = logContext;
        this.deadline = deadline;
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

    /// Another hook runs from now on.
    public void enters(String next) {
        hook = next;
    }

    boolean waitsLonger(long nanos) {
        return System.nanoTime() - queuedAt > nanos;
    }

    /// Whether the hook runs, or may still come to run.
    public synchronized boolean isInside() {
        return thread != null || (!begun && !cancelled && !deadline.isOver());
    }

    /// Where the hook is; nothing where it does not run.
    public synchronized StackTraceElement[] stack() {
        return thread == null ? new StackTraceElement[0] : thread.getStackTrace();
    }

    /// Interrupts the hook, or keeps it from running at all.
    ///
    /// @return what it did until now, to end the sentence "the request's time ran out while …"
    public synchronized String cancel() {
        cancelled = true;
        if (thread != null) {
            thread.interrupt();
        }
        if (begun) {
            return hook + " ran";
        }
        threads.remove(this);
        return "it waited for %s to run".formatted(hook);
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
            return;
        }
        var current = Thread.currentThread();
        var outer = current.getContextClassLoader();
        pool.inside.enter();
        threads.running.add(this);
        CURRENT.set(this);
        try {
            MDC.setContextMap(logContext);
            current.setContextClassLoader(pool.classes());
            ScopedValue.where(Metrics.CURRENT, pool.metrics.ofHooks).run(() -> body.accept(this));
        } finally {
            CURRENT.remove();
            MDC.clear();
            current.setContextClassLoader(outer);
            end();
            pool.inside.leave();
        }
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
