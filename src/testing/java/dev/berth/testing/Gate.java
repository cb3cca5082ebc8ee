package dev.berth.testing;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// A gate that a hook waits at until the test opens it, and that tells the test when a hook has
/// come. At the end of a test it opens by itself.
public final class Gate {

    private static final Set<Gate> SHUT = ConcurrentHashMap.newKeySet();

    private final CountDownLatch arrived;
    private final CountDownLatch open = new CountDownLatch(1);

    /// @param visitors how many must come for [#awaitArrival]
    public Gate(int visitors) {
        this.arrived = new CountDownLatch(visitors);
        SHUT.add(this);
    }

    /// Opens all gates. A test that has failed opens none, and what it closes may wait for those that
    /// stand at one.
    static void openAll() {
        SHUT.forEach(Gate::open);
    }

    public void pass() throws InterruptedException {
        arrived.countDown();
        await(open, "the test never opened the gate");
    }

    /// As native code would.
    public void passWhateverInterrupts() {
        for (boolean passed = false; !passed; ) {
            try {
                pass();
                passed = true;
            } catch (InterruptedException _) {
                // It tries again.
            }
        }
    }

    public void awaitArrival() throws InterruptedException {
        await(arrived, "no hook came to the gate");
    }

    public void open() {
        open.countDown();
        SHUT.remove(this);
    }

    private static void await(CountDownLatch latch, String failure) throws InterruptedException {
        if (!latch.await(Patience.limit().toMillis(), TimeUnit.MILLISECONDS)) {
            throw new IllegalStateException(failure);
        }
    }
}
