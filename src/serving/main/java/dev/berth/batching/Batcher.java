package dev.berth.batching;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.error.Unsaid;
import dev.berth.metrics.ModelMetrics;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Condition;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// Predicts the records of many requests for one model in batches, on workers that take turns with
/// those of other models.
///
/// Nothing here waits for predictions: the caller that has submitted records decides how long to wait.
/// Predictors run on the workers' threads.
public final class Batcher<I, O> implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Batcher.class);

    /// How long a turn may keep a place that other models wait for.
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    /// After how long without anything to do a worker's thread ends.
    static final Duration IDLE = Duration.ofMinutes(1);

    /// How long [#close] waits for workers: native code may never end.
    private static final Duration JOIN = Duration.ofSeconds(3);

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
        this.queue = new BatchQueue<>(predictor, this::wake, limits, clock, metrics);
        this.workerHasLeft = queue.lock.newCondition();
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
                runners.add(new Runner<>(worker, factory.open(worker), predictor, queue));
            }
            queue.locked(() -> {
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
        queue.locked(() -> {
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
        queue.locked(() -> {
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

    /// Has a worker look at what waits: the first one that is idle and has something to do, with a free
    /// place if there is one. So requests that come one at a time are all the same worker's, whose data is
    /// in the caches. One that has been woken is idle no more, so that the next call wakes another. The
    /// lock is held.
    private void wake() {
        runners.stream()
                .filter(runner -> runner.isIdle && runner.ripeInNanos() < Long.MAX_VALUE)
                .min(Comparator.comparing(runner -> !pool.isFree(runner.worker)))
                .ifPresent(runner -> {
                    runner.isIdle = false;
                    if (runner.thread == null) {
                        runner.thread = Thread.ofPlatform()
                                .name("berth-worker-" + runner.worker)
                                .daemon()
                                .inheritInheritableThreadLocals(false)
                                .unstarted(() -> live(runner));
                        runner.thread.start();
                    } else {
                        runner.woken.signal();
                    }
                });
    }

    private void live(Runner<I, O> runner) {
        pool.onStart.run();
        MDC.setContextMap(runner.logContext());
        while (awaitWork(runner)) {
            pool.enter(runner.worker);
            if (queue.locked(() -> enter(runner))) {
                serve(runner);
            } else {
                pool.leave(runner.worker);
            }
        }
    }

    /// Waits until there is something to do on a worker; false: its thread is to end.
    private boolean awaitWork(Runner<I, O> runner) {
        queue.lock.lock();
        try {
            long idle = IDLE.toNanos();
            while (!runner.isRetired) {
                long ripe = runner.ripeInNanos();
                if (ripe <= 0) {
                    return true;
                }
                boolean hasNothing = ripe == Long.MAX_VALUE;
                if (hasNothing && idle <= 0) {
                    break;
                }
                runner.isIdle = true;
                try {
                    long left = runner.woken.awaitNanos(hasNothing ? idle : ripe);
                    idle = hasNothing ? left : idle;
                } catch (InterruptedException _) {
                    // A batch is interrupted while it runs and at no other time: this is a predictor's doing and
                    // means nothing.
                }
                runner.isIdle = false;
            }
            runner.isIdle = true;
            runner.thread = null;
            workerHasLeft.signalAll();
            return false;
        } finally {
            queue.lock.unlock();
        }
    }

    private boolean enter(Runner<I, O> runner) {
        runner.isInside = !runner.isRetired;
        runner.hasPlace = runner.isInside;
        runner.insideSince = queue.now();
        return runner.isInside;
    }

    private void serve(Runner<I, O> runner) {
        try {
            runner.predictWhatWaits();
        } catch (Throwable e) {
            metrics.caught(e);
            log.error("{}: worker {} can't predict any more", name, runner.worker, Unsaid.of(e));
            queue.locked(() -> lose(runner, e));
        } finally {
            if (queue.locked(() -> runner.isRetired)) {
                runner.close();
            }
            queue.locked(() -> leave(runner));
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
        runner.isInside = false;
        leavePlace(runner);
        if (runner.isStuck) {
            runner.isStuck = false;
            pool.stuck.decrementAndGet();
            metrics.stuckHooks.decrementAndGet();
            countWorkers();
        }
    }

    private void leavePlace(Runner<I, O> runner) {
        if (runner.hasPlace) {
            runner.hasPlace = false;
            pool.leave(runner.worker);
        }
    }

    /// Looks for workers whose prediction has not ended `grace` after the deadline of all its
    /// requests. They count as lost for this model until it ends; with the last one, every open
    /// request fails. One whose turn has taken [#PATIENCE] leaves its place to other models, be that one
    /// prediction, the records of a failed batch one by one, or the end of a stream.
    ///
    /// @return the threads of those that were not known before
    public List<Thread> findStuck(Duration grace) {
        return queue.locked(() -> {
            var found = runners.stream()
                    .filter(runner -> !runner.isStuck && queue.isOverdue(runner.worker, grace))
                    .toList();
            found.forEach(this::giveUp);
            if (!found.isEmpty() && liveWorkers == 0) {
                queue.refuseAll(noWorkers());
            }
            runners.stream()
                    .filter(runner -> runner.isInside && queue.now() - runner.insideSince >= PATIENCE.toNanos())
                    .forEach(this::leavePlace);
            return found.stream().map(runner -> runner.thread).toList();
        });
    }

    /// A worker is inside a predictor that does not end.
    private void giveUp(Runner<I, O> runner) {
        runner.isStuck = true;
        metrics.stuckHooks.incrementAndGet();
        countWorkers();
        pool.stuck.incrementAndGet();
        leavePlace(runner);
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
        queue.locked(() -> {
            closed = true;
            runners.forEach(runner -> {
                runner.isRetired = true;
                runner.woken.signal();
            });
            countWorkers();
            queue.refuseAll("%s has stopped".formatted(name));
        });
        try {
            awaitWorkers(JOIN);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        // A worker that is inside closes its predictor when it comes out.
        queue.locked(() -> runners.stream().filter(runner -> !runner.isInside).toList())
                .forEach(Runner::close);
    }

    /// Waits until no worker is inside any more, however long that takes. Only after [#close].
    public void awaitEnd() throws InterruptedException {
        awaitWorkers(Duration.ofNanos(Long.MAX_VALUE));
    }

    /// Waits until the workers' threads have ended. Those that are inside a predictor after that time are
    /// given up.
    private void awaitWorkers(Duration time) throws InterruptedException {
        queue.lock.lock();
        try {
            long left = time.toNanos();
            while (runners.stream().anyMatch(runner -> runner.thread != null) && left > 0) {
                left = workerHasLeft.awaitNanos(left);
            }
            for (var runner : runners) {
                if (runner.isInside && !runner.isStuck) {
                    log.warn(
                            "{}: worker {} still runs {} s after it was told to end; it is left behind",
                            name,
                            runner.worker,
                            time.toSeconds());
                    giveUp(runner);
                }
            }
        } finally {
            queue.lock.unlock();
        }
    }
}
