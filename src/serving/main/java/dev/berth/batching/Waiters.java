package dev.berth.batching;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/// Requests' threads that wait without a timer of their own: that of a virtual thread wakes a thread of
/// the JVM's when it is set, and again when it is not needed any more. All are woken a few times a second
/// to look around. May be used by any thread.
public final class Waiters {

    private static final long LEAST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /// How often they look. A look takes about a microsecond.
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private final Timer timer;
    private final Set<Thread> waiting = ConcurrentHashMap.newKeySet();

    /// Whether one has come since the last look.
    private volatile boolean isUsed;

    private final AtomicBoolean isTimed = new AtomicBoolean();

    /// Has something done later.
    interface Timer {
        void executeIn(long nanos, Runnable action);
    }

    Waiters(Timer timer) {
        this.timer = timer;
    }

    /// Parks the calling thread until it is unparked, or should look around: half of its time may be over.
    ///
    /// @param nanosLeft until when it waits at most
    /// @param isDone whether it need not wait any more, after which it is unparked
    public void park(long nanosLeft, BooleanSupplier isDone) {
        if (nanosLeft < 2 * LOOK_NANOS || !isTimed()) {
            LockSupport.parkNanos(this, Math.clamp(nanosLeft / 2, LEAST_WAIT_NANOS, LOOK_NANOS));
            return;
        }
        var thread = Thread.currentThread();
        waiting.add(thread);
        isUsed = true;
        // The timer may have stopped meanwhile, or its lock have taken what woke this thread.
        if (isTimed() && !isDone.getAsBoolean()) {
            LockSupport.park(this);
        }
        waiting.remove(thread);
    }

    /// Whether those that wait will look around. Without memory for the timer's thread each needs its own.
    private boolean isTimed() {
        try {
            if (!isTimed.get() && isTimed.compareAndSet(false, true)) {
                timer.executeIn(LOOK_NANOS, this::look);
            }
            return true;
        } catch (OutOfMemoryError _) {
            isTimed.set(false);
            return false;
        }
    }

    private void look() {
        // Before it looks who waits: whoever comes later sets it again.
        isTimed.set(false);
        boolean goesOn = isUsed || !waiting.isEmpty();
        isUsed = false;
        var _ = goesOn && isTimed();
        waiting.forEach(LockSupport::unpark);
    }
}
