package dev.berth.testing;

import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/// Virtual threads for what a test does at the same time. A test waits for what it wants to know of
/// them; [#close] waits for nothing.
public final class TestThreads extends ThreadPoolExecutor {

    public TestThreads() {
        super(
                0,
                Integer.MAX_VALUE,
                0,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                Thread.ofVirtual().factory());
    }

    /// Opens all gates and interrupts what runs. Where an assertion has failed, that may wait for the
    /// test.
    @Override
    public void close() {
        Gate.openAll();
        shutdownNow();
        super.close();
    }
}
