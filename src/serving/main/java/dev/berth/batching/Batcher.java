package dev.berth.batching;

import dev.berth.error.ServingException;
import dev.berth.metrics.ModelMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// Predicts the records of many requests for one model in batches, on workers that take turns with
/// those of other models.
///
/// Nothing here waits for predictions: the caller that has submitted records decides how long to wait.
/// Predictors run on the threads of the [WorkerPool].
public final class Batcher<I, O> implements AutoCloseable {

    /// How long [#close] waits for workers: native code may never end.
    private static final Duration JOIN = Duration.ofSeconds(3);

    final BatchQueue<I, O> queue;
    private final List<Worker<I, O>> workers = new ArrayList<>();

    /// Of predictors.
    private final CountDownLatch open;

    private final WorkerPool pool;
    private final Runnable whenClosed;

    /// Opens a predictor for each worker, one after another on the calling thread, and serves as soon
    /// as all are open.
    ///
    /// @param predictor what records run through, for messages
    /// @param clock in nanoseconds, such as [System#nanoTime()]
    /// @param metrics of the model, whose name stands in messages and the log
    /// @throws Exception what the factory threw; the predictors that were open are closed then
    public Batcher(
            String predictor,
            WorkerPool pool,
            BatchLimits limits,
            Predictor.Factory<I, O> factory,
            LongSupplier clock,
            ModelMetrics metrics)
            throws Exception {
        this.pool = pool;
        this.queue = new BatchQueue<>(predictor, this::wake, limits, clock, metrics);
        this.open = new CountDownLatch(pool.accelerators().size());
        try {
            for (int number = 0; number < pool.accelerators().size(); number++) {
                workers.add(new Worker<>(number, factory.open(number), queue, pool, open));
            }
        } catch (Throwable e) {
            workers.forEach(Worker::close);
            throw e;
        }
        whenClosed = metrics.queueOpened(limits.queueCapacity(), queue::expectedWait);
        queue.locked(() -> workers.forEach(Worker::start));
    }

    /// Refuses what [#submit] would refuse however few records there were, before anything is spent
    /// on reading them.
    ///
    /// @param deadlineNanos when the request's time is over, as the clock counts
    /// @throws ServingException `OVERLOADED` or `NOT_READY`
    public void requireRoom(long deadlineNanos) {
        queue.locked(() -> queue.requireRoom(1, deadlineNanos));
    }

    /// Queues the records. All of them are queued or none.
    ///
    /// @param sink where their predictions go, or the parts that a [Predictor.InSteps] gives
    /// @throws ServingException `OVERLOADED` or `NOT_READY`
    public Submission<I, O> submit(Pieces<I> pieces, PartSink<O> sink, Caller caller) {
        var submission = new Submission<>(queue, pieces, sink, caller, queue.now());
        queue.locked(() -> queue.submit(submission));
        return submission;
    }

    /// How many workers can predict.
    public int liveWorkers() {
        return queue.workers();
    }

    /// Has workers look at what they have taken, which may have changed, and another one at what waits:
    /// the first one that is idle and has room, with a free thread if there is one. One that begins a
    /// turn is idle no more, so that the next call wakes another. The lock is held.
    private void wake() {
        workers.stream().filter(Worker::isHolding).forEach(Worker::wake);
        workers.stream()
                .filter(Worker::isNeeded)
                .min(Comparator.comparing(worker -> !worker.hasFreePlace()))
                .ifPresent(Worker::wake);
    }

    /// Looks for workers whose prediction has not ended `grace` after the deadline of all its
    /// requests. They count as lost for this model until it ends; with the last one, every open
    /// request fails.
    ///
    /// @return the threads of those that were not known before
    public List<Thread> findStuck(Duration grace) {
        return queue.locked(() -> workers.stream()
                .flatMap(worker -> worker.findStuck(grace).stream())
                .toList());
    }

    /// Refuses new requests, fails those that are there and closes the predictors. An interrupt ends
    /// the waiting for workers, not the closing. Afterwards [#hasEnded] says whether native code has
    /// let all of them go.
    @Override
    public void close() {
        whenClosed.run();
        queue.locked(() -> {
            queue.close();
            workers.forEach(Worker::retire);
        });
        try {
            if (!open.await(JOIN.toSeconds(), TimeUnit.SECONDS)) {
                queue.locked(() -> workers.forEach(worker -> worker.leaveBehind(JOIN)));
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        } finally {
            pool.renew();
        }
    }

    public boolean hasEnded() {
        return open.getCount() == 0;
    }

    /// Waits until no worker is inside any more, however long that takes. Only after [#close].
    public void awaitEnd() throws InterruptedException {
        open.await();
    }
}
