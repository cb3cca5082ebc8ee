package dev.berth.batching;

import dev.berth.hooks.Accelerator;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/// The places at which the workers of all models predict.
///
/// Each model has a worker, with a predictor and a thread of its own, for each place. A place belongs
/// to an accelerator. As many workers predict on it at the same time as it has places; the others wait
/// for one, in order. So models take turns, batch by batch.
public final class WorkerPool {

    /// How many predictions may not end before the process should be replaced.
    private static final int MOST_STUCK = 32;

    /// By the numbers of workers. Those of one accelerator have the same.
    private final List<Semaphore> places;

    /// Run first by each worker's thread.
    final Runnable onStart;

    /// How many predictions do not end.
    final AtomicInteger stuck = new AtomicInteger();

    /// @param accelerators one for each place
    /// @param onStart run first by each thread of a worker
    public WorkerPool(List<Accelerator> accelerators, Runnable onStart) {
        if (accelerators.isEmpty()) {
            throw new IllegalArgumentException("workers: found none, expected at least 1");
        }
        var ofAccelerators = new HashMap<Accelerator, Semaphore>();
        this.places = accelerators.stream()
                .map(accelerator -> ofAccelerators.computeIfAbsent(accelerator, _ -> new Semaphore(0, true)))
                .toList();
        this.onStart = onStart;
        places.forEach(Semaphore::release);
    }

    /// The number of workers that a model has.
    public int size() {
        return places.size();
    }

    /// Whether so few predictions do not end that models may go on.
    public boolean isHealthy() {
        return stuck.get() < MOST_STUCK;
    }

    /// Waits for a place; false: it was interrupted.
    boolean enter(int worker) {
        try {
            places.get(worker).acquire();
            return true;
        } catch (InterruptedException _) {
            return false;
        }
    }

    void leave(int worker) {
        places.get(worker).release();
    }

    boolean isFree(int worker) {
        return places.get(worker).availablePermits() > 0;
    }
}
