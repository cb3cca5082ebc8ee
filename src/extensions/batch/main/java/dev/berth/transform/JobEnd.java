package dev.berth.transform;

import dev.berth.storage.StorageException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/// The end of a job before all its objects are done, as something is wrong with all of it: its
/// storage, its container, its heap, a second runner, a signal. The first reason counts. Used by
/// any threads.
final class JobEnd {

    /// Objects in a row that the storage fails with for a while, after all retries, and none that it
    /// does not.
    static final int MOST_IN_A_ROW = 50;

    /// What the objects get that are under way. `docker stop` kills after 10 s.
    private static final int DRAIN_SECONDS = 7;

    private static final String STOPPED =
            "stopped by a signal; the same command, without --overwrite, goes on from there";

    private final long mostFailures;
    private final ExecutorService threads;
    private final AtomicReference<String> reason = new AtomicReference<>();
    private final AtomicInteger inARow = new AtomicInteger();
    private final AtomicLong failures = new AtomicLong();

    /// @param mostFailures how many objects and records may fail
    JobEnd(long mostFailures, ExecutorService threads) {
        this.mostFailures = mostFailures;
        this.threads = threads;
    }

    /// Has the job end soon: no further object is begun, and one that is under way has seven seconds.
    /// Returns at once.
    void because(String why) {
        if (reason.compareAndSet(null, why)) {
            CompletableFuture.delayedExecutor(DRAIN_SECONDS, TimeUnit.SECONDS).execute(threads::shutdownNow);
        }
    }

    /// Ends what is under way, too.
    void atOnceBecause(String why) {
        reason.compareAndSet(null, why);
        threads.shutdownNow();
    }

    /// As a signal has come.
    void stop() {
        because(STOPPED);
    }

    boolean isOver() {
        return reason.get() != null;
    }

    boolean isStopped() {
        return STOPPED.equals(reason.get());
    }

    Optional<String> reason() {
        return Optional.ofNullable(reason.get());
    }

    /// An object has its output.
    void succeeded() {
        inARow.set(0);
    }

    /// Something was thrown for an object. Ends the job where any other object would meet the same.
    ///
    /// @return whether the job is over, so that the object has not failed but has not been done
    boolean isOverWith(Throwable thrown) {
        for (var cause = thrown; cause != null; cause = cause.getCause()) {
            if (cause instanceof OutOfMemoryError) {
                atOnceBecause(TransformException.heapIsFull());
            } else if (cause instanceof StorageException fault && fault.isOfStore()) {
                because(fault.getMessage());
            } else if (cause instanceof StorageException fault
                    && fault.isRetryable()
                    && inARow.incrementAndGet() >= MOST_IN_A_ROW) {
                because("the storage has failed with %d objects in a row: %s"
                        .formatted(MOST_IN_A_ROW, fault.getMessage()));
            }
        }
        return isOver();
    }

    /// An object has failed, or a record of it has an error.
    void failed(String key, String why) {
        if (failures.incrementAndGet() > mostFailures) {
            because("more than %d objects or records have failed (--max-failures), the last one: %s: %s"
                    .formatted(mostFailures, key, why));
        }
    }
}
