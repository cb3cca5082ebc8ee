package dev.berth.serving.hooks;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/// Counts those who are inside, so that a server that stops can wait for them: requests with their
/// bodies and their predictions, or hooks. May be entered and left by any thread.
public final class InFlight {

    private int inside;

    public synchronized void enter() {
        inside++;
    }

    public synchronized void leave() {
        inside--;
        if (inside == 0) {
            notifyAll();
        }
    }

    /// Does something while no request is inside and none can enter.
    ///
    /// @return what that says; false where somebody is inside
    public synchronized boolean ifNone(BooleanSupplier action) {
        return inside == 0 && action.getAsBoolean();
    }

    /// Waits until no request is inside; false: the time is over.
    public synchronized boolean awaitNone(Duration time) throws InterruptedException {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); inside > 0 && left > 0; left = end - System.nanoTime()) {
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        return inside == 0;
    }
}
