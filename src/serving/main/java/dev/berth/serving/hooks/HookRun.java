package dev.berth.serving.hooks;

import dev.berth.hooks.Metrics;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.MDC;

/// One hook on its way: it waits for its turn and a thread of a [HookPool], runs there, and may be
/// cancelled, read the rest of a body, or be stuck.
///
/// Its monitor guards where it is, so that an interrupt meets this hook and no later one on the
/// same thread. The monitor of the pool is taken inside it, never the other way round.
public abstract class HookRun implements Runnable {

    private static final ThreadLocal<HookRun> CURRENT = new ThreadLocal<>();

    final HookScope scope;
    final Deadline deadline;
    final boolean large;
    private final Map<String, String> logContext;
    private final Consumer<HookRun> body;
    private volatile String hook;

    /// When it came to wait for a thread; written before it is in the queue.
    long queuedAt;

    // Written under the monitor of the pool.
    volatile boolean hasTurn;
    volatile boolean isReading;

    /// Guarded by the monitor of this, as all that follows; read by its own thread when it has ended.
    boolean isStuck;

    private boolean begun;
    private boolean cancelled;

    /// Null before it runs and after.
    private Thread thread;

    /// See [HookPool#start].
    HookRun(
            HookScope scope,
            String hook,
            Map<String, String> logContext,
            Deadline deadline,
            boolean large,
            Consumer<HookRun> body) {
        this.scope = scope;
        this.hook = hook;
        this.logContext = logContext;
        this.deadline = deadline;
        this.large = large;
        this.body = body;
    }

    /// It is not to run: told under the monitor, or by its own thread.
    abstract void dropped();

    abstract void becameStuck();

    /// Told by its own thread, as the next two.
    abstract void begins();

    abstract void leaves();

    abstract void hasEnded();

    /// The hook that the calling thread runs; null where it runs none.
    static HookRun current() {
        return CURRENT.get();
    }

    public String model() {
        return scope.metrics.model();
    }

    public String hook() {
        return hook;
    }

    /// Another hook runs from now on.
    public void enters(String next) {
        hook = next;
    }

    synchronized boolean isWaiting() {
        return !begun && !cancelled;
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
        dropped();
        return "it waited for %s to run".formatted(hook);
    }

    /// The hook still runs long after its deadline.
    ///
    /// @return whether that is new, and still so
    synchronized boolean markStuck() {
        if (isStuck || thread == null) {
            return false;
        }
        isStuck = true;
        becameStuck();
        return true;
    }

    @Override
    public void run() {
        if (!begin()) {
            dropped();
            return;
        }
        var current = Thread.currentThread();
        var outer = current.getContextClassLoader();
        scope.inside.enter();
        begins();
        CURRENT.set(this);
        try {
            MDC.setContextMap(logContext);
            current.setContextClassLoader(scope.classes);
            ScopedValue.where(Metrics.CURRENT, scope.metrics.ofHooks).run(() -> body.accept(this));
        } finally {
            CURRENT.remove();
            MDC.clear();
            current.setContextClassLoader(outer);
            leaves();
            end();
            hasEnded();
            scope.inside.leave();
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
    }
}
