package dev.berth.batching;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.metrics.ModelMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// Predicts the records of many requests for one model in batches, on workers that take turns with
/// those of other models on the threads of the [WorkerPool].
///
/// Nothing here waits for predictions: the caller that has submitted records decides how long to wait.
/// What records hold is bounded by the memory of requests, and how long they take by the expected
/// wait.
///
/// Workers [#take] pieces of the requests that have not ended, and say what became of them. It has the one
/// lock of the model. No foreign code runs under it. A piece waits only while its request is open.
public final class Batcher<I, O> implements AutoCloseable {

    /// How long [#close] waits for workers: native code may never end.
    private static final Duration JOIN = Duration.ofSeconds(3);

    /// Rejections of requests with less time left do not count as overload: they come where the wait
    /// is half of it. Clients put up with so short a wait, in order of arrival.
    private static final Duration SHORT_DEADLINE = Duration.ofSeconds(4);

    /// The part of a request's time for which the line must have moved before its estimate rejects the
    /// request. When a thousand bulks arrive at once, reading them takes the cores from the workers, and the
    /// first batches of a queue of 3 s foretold 20 to 170 s.
    private static final int MEASURED = 16;

    final BatchLimits limits;
    final ModelMetrics metrics;
    final String predictor;
    final WorkerPool pool;
    final List<Worker<I, O>> workers = new ArrayList<>();
    /// Of predictors.
    final CountDownLatch open;

    private final LongSupplier clock;
    private Runnable whenClosed = () -> {};

    private final ReentrantLock lock = new ReentrantLock();

    // All that follows is guarded by the lock.

    private final Set<Submission<I, O>> requests = new LinkedHashSet<>();
    final Line<I, O> line;

    /// How many workers can predict. Read without the lock too, because `/ping` asks.
    volatile int liveWorkers;

    /// Whether records are predicted in steps.
    boolean inSteps;

    private boolean closed;

    /// What must wait until the lock is free.
    private List<Runnable> afterwards = new ArrayList<>();

    Batcher(String predictor, WorkerPool pool, BatchLimits limits, LongSupplier clock, ModelMetrics metrics) {
        this.predictor = predictor;
        this.pool = pool;
        this.limits = limits;
        this.clock = clock;
        this.metrics = metrics;
        this.line = new Line<>(limits, metrics);
        this.open = new CountDownLatch(pool.accelerators().size());
    }

    /// Opens a predictor for each worker, one after another on the calling thread, and serves as soon
    /// as all are open.
    ///
    /// @param predictor what records run through, for messages
    /// @param clock in nanoseconds, such as [System#nanoTime()]
    /// @param metrics of the model, whose name stands in messages and the log
    /// @throws Exception what the factory threw; the predictors that were open are closed then
    public static <I, O> Batcher<I, O> open(
            String predictor,
            WorkerPool pool,
            BatchLimits limits,
            Predictor.Factory<I, O> factory,
            LongSupplier clock,
            ModelMetrics metrics)
            throws Exception {
        var batcher = new Batcher<I, O>(predictor, pool, limits, clock, metrics);
        try {
            for (int number = 0; number < pool.accelerators().size(); number++) {
                var its = factory.open(number);
                batcher.inSteps = its instanceof Predictor.InSteps<I, O, ?>;
                batcher.workers.add(new Worker<>(number, its, batcher));
            }
        } catch (Throwable e) {
            batcher.workers.forEach(Worker::close);
            throw e;
        }
        batcher.whenClosed = metrics.queueOpened(limits.queueCapacity(), batcher::expectedWait);
        batcher.locked(batcher::countWorkers);
        return batcher;
    }

    void locked(Runnable action) {
        locked(() -> {
            action.run();
            return null;
        });
    }

    /// Runs something under the lock, and tells the callers of requests that have ended meanwhile
    /// without it.
    <T> T locked(Supplier<T> action) {
        List<Runnable> then = List.of();
        lock.lock();
        try {
            return action.get();
        } finally {
            if (lock.getHoldCount() == 1 && !afterwards.isEmpty()) {
                then = afterwards;
                afterwards = new ArrayList<>();
            }
            lock.unlock();
            then.forEach(Runnable::run);
        }
    }

    /// Has something done as soon as the lock is free. It is held.
    void afterwards(Runnable action) {
        afterwards.add(action);
    }

    /// As the model's clock counts.
    long now() {
        return clock.getAsLong();
    }

    /// Refuses what [#submit] would refuse however few records there were, before anything is spent
    /// on reading them.
    ///
    /// @param deadlineNanos when the request's time is over, as the clock counts
    /// @throws ServingException `OVERLOADED` or `NOT_READY`
    public void requireRoom(long deadlineNanos) {
        locked(() -> requireRoom(1, deadlineNanos));
    }

    /// Queues the records. All of them are queued or none.
    ///
    /// @param sink where their predictions go, or the parts that a [Predictor.InSteps] gives
    /// @throws ServingException `OVERLOADED` or `NOT_READY`
    public Submission<I, O> submit(Pieces<I> pieces, PartSink<O> sink, Caller caller) {
        var request = new Submission<>(pieces, sink, caller, now());
        locked(() -> {
            requireRoom(request.left, sink.deadlineNanos());
            requests.add(request);
            line.add(request, now());
            wake();
        });
        return request;
    }

    /// How many workers can predict.
    public int liveWorkers() {
        return liveWorkers;
    }

    /// Looks for workers whose prediction has not ended `grace` after the deadline of all its
    /// requests. They count as lost for this model until it ends; with the last one, every open
    /// request fails.
    ///
    /// @return the threads of those that were not known before
    public List<Thread> findStuck(Duration grace) {
        return locked(() -> workers.stream()
                .flatMap(worker -> worker.findStuck(grace).stream())
                .toList());
    }

    /// Refuses new requests, fails those that are there and closes the predictors. An interrupt ends
    /// the waiting for workers, not the closing. Afterwards [#hasEnded] says whether native code has
    /// let all of them go.
    @Override
    public void close() {
        whenClosed.run();
        locked(() -> {
            closed = true;
            refuseAll(hasStopped());
            workers.forEach(Worker::retire);
        });
        try {
            if (!open.await(JOIN.toSeconds(), TimeUnit.SECONDS)) {
                locked(() -> workers.forEach(Worker::leaveBehind));
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

    // The lock is held in all that follows but #take, #expectedWait(), #ask and #abandon.

    /// Has workers look at what they have taken, which may have changed, and another one at what waits:
    /// the first one that is idle and has room, with a free thread if there is one. One that begins a
    /// turn is idle no more, so that the next call wakes another.
    private void wake() {
        workers.stream().filter(Worker::isHolding).forEach(Worker::wake);
        workers.stream()
                .filter(Worker::isNeeded)
                .min(Comparator.comparing(worker -> !worker.hasFreePlace()))
                .ifPresent(Worker::wake);
    }

    /// Counts the workers that can predict, and refuses all requests when none can.
    void countWorkers() {
        int before = liveWorkers;
        liveWorkers = (int) workers.stream().filter(Worker::canPredict).count();
        // Another version of the model may have workers under the same name.
        metrics.workers.addAndGet(liveWorkers - before);
        if (liveWorkers == 0) {
            refuseAll(noWorkers());
        }
    }

    private String noWorkers() {
        return "%s has no worker that can predict; hooks that do not end: %d"
                .formatted(metrics.model(), metrics.stuckHooks.get());
    }

    private String hasStopped() {
        return "%s has stopped".formatted(metrics.model());
    }

    private void refuseAll(String why) {
        List.copyOf(requests).forEach(request -> end(request, ErrorType.NOT_READY.because(why)));
    }

    /// @throws ServingException when so many pieces can't be queued, or no worker will answer
    void requireRoom(int pieces, long deadline) {
        if (closed || liveWorkers == 0) {
            throw ErrorType.NOT_READY.because(closed ? hasStopped() : noWorkers());
        }
        if (line.size() == 0) {
            return;
        }
        long left = deadline - now();
        if (line.size() >= limits.queueCapacity()) {
            throw overloaded(
                    left,
                    "found %d requests waiting, expected fewer than %d".formatted(line.size(), limits.queueCapacity()));
        }
        long wait = expectedWait(pieces);
        if (wait > left / 2 && (inSteps || line.measuredFor(now()) > left / MEASURED)) {
            throw overloaded(
                    left,
                    "its records would wait %.1f s, and the request's time is over in %.1f s"
                            .formatted(wait / 1e9, left / 1e9));
        }
    }

    private ServingException overloaded(long left, String why) {
        metrics.overloaded.increment();
        if (left > SHORT_DEADLINE.toNanos()) {
            line.leftUnanswered();
        }
        return ErrorType.OVERLOADED.because("%s is overloaded: %s; try again later".formatted(metrics.model(), why));
    }

    /// How long a record that came now would wait.
    Duration expectedWait() {
        return locked(() -> line.size() > 0 ? Duration.ofNanos(expectedWait(1)) : Duration.ZERO);
    }

    private long expectedWait(int count) {
        long measured = line.expectedWait(count);
        // Were more places about to become free than a batch has, some of them would have, and the line
        // would have moved.
        long places = (long) Math.max(1, liveWorkers) * limits.maxBatchSize();
        return inSteps ? Math.max(measured, line.stillFor(now()) * line.pieces() / places) : measured;
    }

    /// Takes pieces that go together and that somebody waits for. Where others are left, the next worker
    /// is woken for them.
    ///
    /// Whether a caller has gone away is asked without the lock.
    ///
    /// @param room for how many
    /// @param taken where they go, under the lock
    /// @return false: no batch should be made now; true also where nobody waits for what was chosen
    boolean take(int room, Collection<Piece<I, O>> taken) {
        var chosen = locked(
                () -> line.ripeInNanos(now()) <= 0 ? line.take(room, now(), this::expire) : List.<Piece<I, O>>of());
        Submission.of(chosen).stream().filter(Submission::isAbandoned).forEach(this::abandon);
        return locked(() -> {
            var wanted = chosen.stream().filter(Piece::isWanted).toList();
            if (!wanted.isEmpty()) {
                start(wanted);
                taken.addAll(wanted);
            }
            return !chosen.isEmpty();
        });
    }

    private void start(List<Piece<I, O>> chosen) {
        long now = now();
        for (var piece : chosen) {
            if (piece.request.start(piece, now)) {
                metrics.queueWait.record(Duration.ofNanos(now - piece.request.arrivedAt));
            }
        }
        line.moved(chosen.stream().mapToLong(Piece::cost).sum(), now);
        if (line.size() > 0) {
            wake();
        }
    }

    private Stream<Batch<I, O>> running() {
        return workers.stream().flatMap(worker -> worker.running.stream());
    }

    /// A piece is predicted; its sink has the prediction.
    void answer(Piece<I, O> piece) {
        var request = piece.request;
        if (!request.hasEnded() && request.answered()) {
            end(request, null);
            line.answered();
        }
    }

    void expire(Submission<I, O> request) {
        if (!request.hasEnded()) {
            metrics.expired.increment();
            leave(
                    request,
                    ErrorType.DEADLINE_EXCEEDED.because(
                            request.hasStarted
                                    ? "the request's time ran out while %s ran".formatted(predictor)
                                    : "the request's time ran out while it was queued"));
        }
    }

    /// Says that the caller of a request has gone.
    public void abandon(Submission<I, O> request) {
        locked(() -> leave(request, ErrorType.CALLER_GONE.because("the caller has gone away")));
    }

    private void leave(Submission<I, O> request, ServingException why) {
        // A caller that leaves while an answer comes in parts has not waited for too long.
        if (!request.hasEnded() && !(inSteps && request.hasStarted)) {
            line.leftUnanswered();
        }
        end(request, why);
    }

    /// Ends a request, unless it has ended: its pieces stop waiting, and batches that nobody waits
    /// for any more are interrupted.
    ///
    /// @param failure why it has no predictions; null where it has them
    void end(Submission<I, O> request, Throwable failure) {
        if (!requests.remove(request)) {
            return;
        }
        line.remove(request);
        afterwards.add(request.end(failure, now()));
        if (failure != null) {
            metrics.abandoned.increment(request.recordsNotStarted);
            running().forEach(Batch::interruptIfUnwanted);
            // A worker may hold the state of its streams.
            wake();
        }
    }

    /// Asks why a request has not ended yet: it ends when its caller has gone or its time is over, a batch that
    /// has kept it waiting for too long is interrupted, and it goes on where its sink has room again.
    public void ask(Submission<I, O> request) {
        if (request.isAbandoned()) {
            abandon(request);
            return;
        }
        locked(() -> {
            long now = now();
            if (request.isExpired(now)) {
                expire(request);
            } else {
                running().forEach(batch -> batch.interruptFor(request, now));
                wake();
            }
        });
    }
}
