package dev.berth.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;

/// Where hooks of an artifact meet the test. Tests run one after another, and each resets it.
public final class HookProbe {

    /// What the hooks have noted, in their order.
    public static final List<String> NOTES = new CopyOnWriteArrayList<>();

    /// The class loaders that have come by.
    public static final List<WeakReference<ClassLoader>> LOADERS = new CopyOnWriteArrayList<>();

    private static final Semaphore LOCK = new Semaphore(1);
    private static final AtomicBoolean HELD = new AtomicBoolean();

    private static volatile boolean spinning;

    private HookProbe() {}

    public static void reset() {
        NOTES.clear();
        LOADERS.clear();
        spinning = true;
    }

    public static void note(String note) {
        NOTES.add(note);
    }

    /// Waits until these are all.
    public static void awaitNotes(String... notes) {
        await().untilAsserted(() -> assertThat(NOTES).containsExactly(notes));
    }

    public static void saw(Class<?> type) {
        LOADERS.add(new WeakReference<>(type.getClassLoader()));
    }

    /// Computes until the test says that it is enough, whoever interrupts.
    public static void spin() {
        while (spinning) {
            Thread.onSpinWait();
        }
    }

    public static void endSpinning() {
        spinning = false;
    }

    /// Has hooks wait for a lock from now on.
    public static void hold() {
        HELD.set(true);
        LOCK.drainPermits();
    }

    /// Lets go of it. Any thread may do that: JUnit has one for each method.
    public static void letGo() {
        if (HELD.getAndSet(false)) {
            LOCK.release();
        }
    }

    /// Waits while the test holds the lock, whoever interrupts.
    public static void waitForLock() {
        LOCK.acquireUninterruptibly();
        LOCK.release();
    }

    /// The same, unless somebody interrupts.
    public static void waitForLockInterruptibly() throws InterruptedException {
        LOCK.acquire();
        LOCK.release();
    }

    /// Ends whatever hooks wait for.
    static void end() {
        endSpinning();
        letGo();
    }
}
