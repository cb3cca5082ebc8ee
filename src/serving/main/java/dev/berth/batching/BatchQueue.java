package dev.berth.batching;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.metrics.ModelMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/// The requests of a model that have not ended. Their pieces are in line, or a worker has taken them.
/// What records hold is bounded by the memory of requests, and how long they take by the expected
/// wait.
///
/// Workers [#take] pieces, say which of them their predictors have, and what became of them. It has the
/// one lock of the model. No foreign code runs under it. A piece waits only while its request is open.
final class BatchQueue<I, O> extends Submission.Queue<I, O> {

    /// Rejections of requests with less time left do not count as overload: they come where the wait
    /// is half of it. Clients put up with so short a wait, in order of arrival.
    private static final Duration SHORT_DEADLINE = Duration.ofSeconds(4);

    final BatchLimits limits;
    final ModelMetrics metrics;
    final String predictor;
    private final Runnable wake;
    private final LongSupplier clock;

    final ReentrantLock lock = new ReentrantLock();

    // All that follows is guarded by the lock.

    private final Set<Submission<I, O>> open = new LinkedHashSet<>();
    private final Line<I, O> line;

    /// What predictors have at the moment, by the numbers of their workers.
    private final Map<Integer, Batch<I, O>> running = new HashMap<>();

    /// How many workers can predict. Read without the lock too, because `/ping` asks.
    private final AtomicInteger workers = new AtomicInteger();

    /// Whether records are predicted in steps.
    private boolean inSteps;

    private boolean closed;

    /// What must wait until the lock is free.
    private List<Runnable> afterwards = new ArrayList<>();

    /// @param predictor for messages
    /// @param wake has the model's next worker look at the queue; called with the lock held
    BatchQueue(String predictor, Runnable wake, BatchLimits limits, LongSupplier clock, ModelMetrics metrics) {
        this.predictor = predictor;
        this.wake = wake;
        this.limits = limits;
        this.clock = clock;
        this.metrics = metrics;
        this.line = new Line<>(limits, metrics);
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

    /// The lock is held, as in all that follows but [#take], [#expectedWait()], [#ask] and [#abandon].
    void predictInSteps() {
        inSteps = true;
    }

    /// One more worker can predict, or with -1 one less.
    ///
    /// @param ifNone why all requests are refused when none can
    void countWorkers(int more, String ifNone) {
        // Another version of the model may have workers under the same name.
        metrics.workers.addAndGet(more);
        if (workers.addAndGet(more) == 0) {
            refuseAll(ifNone);
        }
    }

    int workers() {
        return workers.get();
    }

    String noWorkers() {
        return "%s has no worker that can predict; hooks that do not end: %d"
                .formatted(metrics.model(), metrics.stuckHooks.get());
    }

    /// Refuses all requests from now on.
    void close() {
        closed = true;
        refuseAll(hasStopped());
    }

    private String hasStopped() {
        return "%s has stopped".formatted(metrics.model());
    }

    private void refuseAll(String why) {
        List.copyOf(open).forEach(request -> end(request, ErrorType.NOT_READY.because(why)));
    }

    /// Queues all the pieces of a request, or none.
    ///
    /// @throws ServingException when it can't be queued
    void submit(Submission<I, O> request) {
        requireRoom(request.left, request.sink.deadlineNanos());
        open.add(request);
        line.add(request, now());
        wake.run();
    }

    /// @throws ServingException when so many pieces can't be queued, or no worker will answer
    void requireRoom(int pieces, long deadline) {
        if (closed || workers.get() == 0) {
            throw ErrorType.NOT_READY.because(closed ? hasStopped() : noWorkers());
        }
        if (!hasLine()) {
            return;
        }
        long left = deadline - now();
        if (size() >= limits.queueCapacity()) {
            throw overloaded(
                    left,
                    "found %d requests waiting, expected fewer than %d".formatted(size(), limits.queueCapacity()));
        }
        long wait = expectedWait(pieces);
        if (wait > left / 2) {
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
        return locked(() -> hasLine() ? Duration.ofNanos(expectedWait(1)) : Duration.ZERO);
    }

    private long expectedWait(int count) {
        long measured = line.expectedWait(count);
        // Were more places about to become free than a batch has, some of them would have, and the line
        // would have moved.
        long places = (long) Math.max(1, workers.get()) * limits.maxBatchSize();
        return inSteps ? Math.max(measured, line.stillFor(now()) * line.pieces() / places) : measured;
    }

    /// The number of requests that wait.
    int size() {
        return line.size();
    }

    /// Whether records wait.
    boolean hasLine() {
        return size() > 0;
    }

    /// In how long a batch should be made of what waits; zero or less: now; [Long#MAX_VALUE]: nothing
    /// waits.
    long ripeInNanos() {
        return line.ripeInNanos(now());
    }

    /// Takes pieces that go together and that somebody waits for. Where others are left, the next worker
    /// is woken for them.
    ///
    /// Whether a caller has gone away is asked without the lock; the room that such callers leave is
    /// filled up again.
    ///
    /// @param room for how many
    /// @param taken where they go, under the lock
    /// @return false: no batch should be made now
    boolean take(int room, Collection<Piece<I, O>> taken) {
        var chosen = new ArrayList<Piece<I, O>>();
        var asked = new HashSet<Submission<I, O>>();
        while (true) {
            var toAsk = locked(() -> {
                chosen.removeIf(piece -> !piece.isWanted());
                if (!chosen.isEmpty() || ripeInNanos() <= 0) {
                    line.fill(chosen, room, now(), this::expire);
                }
                var callers = Submission.of(chosen);
                callers.removeAll(asked);
                if (callers.isEmpty() && !chosen.isEmpty()) {
                    start(chosen);
                    taken.addAll(chosen);
                }
                return callers;
            });
            if (toAsk.isEmpty()) {
                return !chosen.isEmpty();
            }
            asked.addAll(toAsk);
            toAsk.stream().filter(Submission::isAbandoned).forEach(this::abandon);
        }
    }

    private void start(List<Piece<I, O>> chosen) {
        long now = now();
        for (var piece : chosen) {
            if (piece.request.start(piece, now)) {
                metrics.queueWait.record(Duration.ofNanos(now - piece.request.arrivedAt));
            }
        }
        line.moved(chosen.stream().mapToLong(piece -> piece.length).sum(), now);
        if (hasLine()) {
            wake.run();
        }
    }

    /// A predictor is about to have pieces. From now on it is interrupted when no request waits for them
    /// any more.
    void begin(int worker, Batch<I, O> batch) {
        running.put(worker, batch);
    }

    /// The predictor of the calling worker has nothing any more. An interrupt that has come for its batch
    /// ends with it, and none comes after.
    void finish(int worker) {
        running.remove(worker);
        Thread.interrupted();
    }

    /// Whether a worker's predictor has a batch, the deadline of each of whose requests is past for as
    /// long as `grace`.
    boolean isOverdue(int worker, Duration grace) {
        var batch = running.get(worker);
        return batch != null && batch.isOverdue(now(), grace.toNanos());
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

    @Override
    void abandon(Submission<I, O> request) {
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
        if (!open.remove(request)) {
            return;
        }
        line.remove(request);
        afterwards.add(request.end(failure, now()));
        if (failure != null) {
            metrics.abandoned.increment(request.recordsNotStarted());
            running.values().forEach(Batch::interruptIfUnwanted);
            // A worker may hold the state of its streams.
            wake.run();
        }
    }

    @Override
    void ask(Submission<I, O> request) {
        if (request.isAbandoned()) {
            abandon(request);
            return;
        }
        locked(() -> {
            long now = now();
            if (request.isExpired(now)) {
                expire(request);
            } else {
                running.values().forEach(batch -> batch.interruptFor(request, now));
                wake.run();
            }
        });
    }
}
