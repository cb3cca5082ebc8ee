package dev.berth.batching;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.error.Unsaid;
import dev.berth.metrics.ModelMetrics;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Condition;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// Predicts the records of many requests for one model in batches, on workers that it may share
/// with other models.
///
/// Nothing here waits for predictions: the caller that has submitted records decides how long to wait.
/// Predictors run on the workers' threads.
public final class Batcher<I, O> extends WorkerPool.Model implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Batcher.class);

    /// How long a turn may keep a thread that other models wait for.
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final String name;
    private final String predictor;
    final BatchQueue<I, O> queue;

    private final WorkerPool pool;
    private final PredictorFactory<I, O> factory;
    private final ModelMetrics metrics;
    private final Condition workerHasLeft;
    private final Supplier<Duration> expectedWait;

    /// By the numbers of their workers. Written by [#start].
    private final List<Runner<I, O>> runners = new CopyOnWriteArrayList<>();

    private volatile boolean closed;

    /// Written under the lock; read without it, because `/ping` asks.
    private volatile int liveWorkers;

    /// @param predictor what records run through, for messages
    /// @param pool the workers, each of which gets a predictor
    /// @param clock in nanoseconds, such as [System#nanoTime()]
    /// @param metrics of the model, whose name stands in messages and the log
    public Batcher(
            String predictor,
            WorkerPool pool,
            BatchLimits limits,
            PredictorFactory<I, O> factory,
            LongSupplier clock,
            ModelMetrics metrics) {
        this.name = metrics.model();
        this.predictor = predictor;
        this.pool = pool;
        this.factory = factory;
        this.metrics = metrics;
        this.workerHasLeft = pool.lock.newCondition();
        this.queue = new BatchQueue<>(predictor, pool, this::wake, limits, clock, metrics);
        this.expectedWait = queue::expectedWait;
        metrics.queueOpened(limits.queueCapacity(), expectedWait);
    }

    /// Opens a predictor for each worker, one after another on the calling thread, and serves as soon
    /// as all are open. Call once.
    ///
    /// @throws Exception what the factory threw; the predictors that were open are closed then
    public void start() throws Exception {
        try {
            for (int worker = 0; worker < pool.size(); worker++) {
                requireOpen();
                runners.add(new Runner<>(worker, factory.open(worker), predictor, queue, pool));
            }
            pool.locked(() -> {
                requireOpen();
                countWorkers();
            });
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("%s was closed while it started".formatted(name));
        }
    }

    /// Refuses what [#submit] would refuse however few records there were, before anything is spent
    /// on reading them.
    ///
    /// @param deadlineNanos when the request's time is over, as the clock counts
    /// @throws ServingException `OVERLOADED` or `NOT_READY`
    public void requireRoom(long deadlineNanos) {
        pool.locked(() -> {
            requireWorker();
            queue.requireRoom(1, deadlineNanos);
        });
    }

    /// Queues the records. All of them are queued or none.
    ///
    /// @param sink where their predictions go: [Parts], or what takes the parts that a [StepPredictor]
    ///   gives
    /// @throws ServingException `OVERLOADED` or `NOT_READY`
    public Submission<I, O> submit(Pieces<I> pieces, PartSink<O> sink, Caller caller) {
        var submission = new Submission<>(queue, pieces, sink, caller, queue.now());
        pool.locked(() -> {
            requireWorker();
            queue.submit(submission);
        });
        return submission;
    }

    /// @throws ServingException where no worker will answer a request
    private void requireWorker() {
        if (closed) {
            throw ErrorType.NOT_READY.because("%s has stopped".formatted(name));
        }
        if (liveWorkers == 0) {
            throw ErrorType.NOT_READY.because(noWorkers());
        }
    }

    private String noWorkers() {
        long stuck = runners.stream().filter(runner -> runner.isStuck).count();
        return stuck == 0
                ? "%s has no worker that can predict".formatted(name)
                : "%s has no worker that can predict: predictFn does not end on %d of them".formatted(name, stuck);
    }

    public int liveWorkers() {
        return liveWorkers;
    }

    private void countWorkers() {
        int before = liveWorkers;
        liveWorkers = (int) runners.stream()
                .filter(runner -> !runner.isRetired && !runner.isStuck)
                .count();
        if (runners.stream().anyMatch(Runner::predictsInSteps)) {
            queue.predictInSteps(Math.max(1L, liveWorkers) * queue.limits.maxBatchSize());
        }
        // Another version of the model may have workers under the same name.
        metrics.workers.addAndGet(liveWorkers - before);
    }

    private void wake() {
        pool.wake(this);
    }

    @Override
    boolean hasWork() {
        return liveWorkers > 0 && (queue.hasLine() || runners.stream().anyMatch(runner -> !runner.taken.isEmpty()));
    }

    @Override
    long ripeInNanos(int worker) {
        return runners.get(worker).ripeInNanos();
    }

    @Override
    Runnable enter(int worker) {
        var runner = runners.get(worker);
        runner.inside = Thread.currentThread();
        runner.insideSince = queue.now();
        return () -> serve(runner);
    }

    private void serve(Runner<I, O> runner) {
        MDC.setContextMap(runner.logContext());
        try {
            runner.predictWhatWaits();
        } catch (Throwable e) {
            metrics.caught(e);
            log.error("{}: worker {} can't predict any more", name, runner.worker, Unsaid.of(e));
            pool.locked(() -> lose(runner, e));
        } finally {
            leave(runner);
            MDC.clear();
        }
    }

    /// Counts a worker out whose predictor is of no use any more, and fails all that it has taken. With
    /// the last one, every open request fails.
    private void lose(Runner<I, O> runner, Throwable cause) {
        Submission.of(runner.taken).forEach(request -> queue.end(request, cause));
        runner.isRetired = true;
        countWorkers();
        if (liveWorkers == 0) {
            queue.refuseAll("%s has lost its last worker".formatted(name));
        }
    }

    private void leave(Runner<I, O> runner) {
        if (pool.locked(() -> runner.isRetired)) {
            runner.close();
        }
        pool.locked(() -> {
            runner.inside = null;
            if (runner.isStuck) {
                runner.isStuck = false;
                metrics.stuckHooks.decrementAndGet();
                countWorkers();
            }
            if (!runner.isRetired && !runner.taken.isEmpty()) {
                // This worker emptied the queue, so others may have removed the model from the turns.
                wake();
            }
            workerHasLeft.signalAll();
        });
    }

    /// Looks for workers whose prediction has not ended `grace` after the deadline of all its
    /// requests. They count as lost for this model until it ends; with the last one, every open
    /// request fails. Other models get another thread in their place, and also in the place of one
    /// whose turn has taken [#PATIENCE] while they wait for it, be that one prediction, the records
    /// of a failed batch one by one, or the end of a stream.
    ///
    /// @return the threads of those that were not known before
    public List<Thread> findStuck(Duration grace) {
        return pool.locked(() -> {
            var found = runners.stream()
                    .filter(runner -> !runner.isStuck && queue.isOverdue(runner.worker, grace))
                    .toList();
            found.forEach(this::giveUp);
            if (!found.isEmpty() && liveWorkers == 0) {
                queue.refuseAll(noWorkers());
            }
            runners.stream()
                    .filter(runner -> runner.inside != null && queue.now() - runner.insideSince >= PATIENCE.toNanos())
                    .forEach(runner -> pool.standInFor(runner.worker, runner.inside));
            return found.stream().map(runner -> runner.inside).toList();
        });
    }

    /// A worker is inside a predictor that does not end.
    private void giveUp(Runner<I, O> runner) {
        runner.isStuck = true;
        metrics.stuckHooks.incrementAndGet();
        countWorkers();
        pool.hold(runner.worker, runner.inside);
    }

    public boolean hasEnded() {
        return runners.stream().allMatch(Runner::isClosed);
    }

    /// Refuses new requests, fails those that are there and closes the predictors. An interrupt ends
    /// the waiting for workers, not the closing. Afterwards [#hasEnded] says whether native code has
    /// let all of them go.
    @Override
    public void close() {
        metrics.queueClosed(expectedWait);
        pool.locked(() -> {
            closed = true;
            runners.forEach(runner -> runner.isRetired = true);
            countWorkers();
            queue.refuseAll("%s has stopped".formatted(name));
        });
        try {
            awaitWorkers(WorkerPool.JOIN);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        // A worker that is inside closes its predictor when it comes out.
        pool.locked(() ->
                        runners.stream().filter(runner -> runner.inside == null).toList())
                .forEach(Runner::close);
    }

    /// Waits until no worker is inside any more, however long that takes. Only after [#close].
    public void awaitEnd() throws InterruptedException {
        awaitWorkers(Duration.ofNanos(Long.MAX_VALUE));
    }

    /// Waits until no worker is inside a predictor. The threads of those that are after that time are
    /// given up.
    private void awaitWorkers(Duration time) throws InterruptedException {
        pool.lock.lock();
        try {
            long left = time.toNanos();
            while (runners.stream().anyMatch(runner -> runner.inside != null) && left > 0) {
                left = workerHasLeft.awaitNanos(left);
            }
            for (var runner : runners) {
                if (runner.inside != null && !runner.isStuck) {
                    log.warn(
                            "{}: worker {} still runs {} s after it was told to end; it is left behind",
                            name,
                            runner.worker,
                            time.toSeconds());
                    giveUp(runner);
                }
            }
        } finally {
            pool.lock.unlock();
        }
    }
}
