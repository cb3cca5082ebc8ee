package dev.berth.batching;

import dev.berth.batching.Submission.Pending;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.metrics.ModelMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/// The requests of a model that have not ended. Their pieces are in line, or a worker has taken them.
/// What records hold is bounded by the memory of requests, and how long they take by the expected
/// wait.
///
/// [#submit] takes a request in; workers [#take] a batch and say what became of it. The lock is that
/// of the [WorkerPool]. No foreign code runs under it. A piece waits only while its request is open.
final class BatchQueue<I, O> extends Submission.Queue<I, O> {

    /// How often the callers of all that wait may be asked whether they have gone. An answer takes
    /// about a microsecond.
    private static final Duration ASKED_EVERY = Duration.ofMillis(100);

    /// Rejections of requests with less time left do not count as overload: they come where the wait
    /// is half of it. Clients put up with so short a wait, in order of arrival.
    private static final Duration SHORT_DEADLINE = Duration.ofSeconds(4);

    final BatchLimits limits;
    private final LongSupplier clock;
    final ModelMetrics metrics;

    private final Batcher<I, O> workers;
    private final ReentrantLock lock;

    private final Set<Submission<I, O>> open = new LinkedHashSet<>();
    private final Line<I, O> line;
    private long askedAt;

    /// The requests that have ended and were not told yet, which must wait until the lock is free.
    private List<Submission<I, O>> ended = new ArrayList<>();

    BatchQueue(
            Batcher<I, O> workers, ReentrantLock lock, BatchLimits limits, LongSupplier clock, ModelMetrics metrics) {
        this.workers = workers;
        this.lock = lock;
        this.limits = limits;
        this.clock = clock;
        this.metrics = metrics;
        this.line = new Line<>(limits, metrics);
        this.askedAt = now() - ASKED_EVERY.toNanos();
    }

    /// As the model's clock counts.
    long now() {
        return clock.getAsLong();
    }

    /// Queues all the pieces of a request, or none.
    ///
    /// @throws ServingException when it can't be queued
    void submit(Submission<I, O> request) {
        locked(() -> {
            requireRoom(request.left(), request.sink.deadlineNanos());
            open.add(request);
            line.add(request, now());
            workers.wake();
        });
    }

    /// Where the queue is full, requests whose callers have gone leave it first.
    ///
    /// @throws ServingException when not even one record can be queued
    void requireRoom(long deadline) {
        var keeping = locked(() -> {
            var callers = keepingPlaces();
            if (callers.isEmpty()) {
                requireRoom(1, deadline);
            }
            return callers;
        });
        if (!keeping.isEmpty()) {
            endAbandoned(keeping);
            locked(() -> requireRoom(1, deadline));
        }
    }

    private boolean isFull() {
        return line.size() >= limits.queueCapacity();
    }

    private void requireRoom(int pieces, long deadline) {
        workers.requireWorker();
        if (!hasLine()) {
            return;
        }
        long left = deadline - now();
        if (isFull()) {
            throw overloaded(
                    left,
                    "found %d requests waiting, expected fewer than %d".formatted(line.size(), limits.queueCapacity()));
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
        return ErrorType.OVERLOADED.because("%s is overloaded: %s; try again later".formatted(workers.name, why));
    }

    /// How long a record that came now would wait.
    Duration expectedWait() {
        return locked(() -> hasLine() ? Duration.ofNanos(expectedWait(1)) : Duration.ZERO);
    }

    private long expectedWait(int count) {
        long measured = line.expectedWait(count);
        if (!workers.predictsInSteps()) {
            return measured;
        }
        // Were more places about to become free than a batch has, some of them would have, and the line
        // would have moved.
        long places = (long) workers.liveWorkers() * limits.maxBatchSize();
        return Math.max(measured, line.stillFor(now()) * line.pieces() / places);
    }

    /// The number of requests that wait.
    int size() {
        return locked(line::size);
    }

    /// Whether records wait. The lock is held.
    boolean hasLine() {
        return line.size() > 0;
    }

    /// In how long a batch should be made of what waits; zero or less: now. The lock is held.
    long ripeInNanos() {
        return hasLine() ? line.delayNanos(now()) : Long.MAX_VALUE;
    }

    /// Starts a batch that somebody waits for on the calling worker. Where records are left, the next
    /// worker is woken for them.
    ///
    /// Whether a caller has gone away is asked without the lock; the room that such callers leave is
    /// filled up again.
    ///
    /// @return nothing: no batch should be made now
    Optional<Batch<I, O>> take(Runner<I, O> runner) {
        var chosen = new ArrayList<Pending<I, O>>();
        var asked = new HashSet<Submission<I, O>>();
        while (true) {
            var toAsk = new HashSet<Submission<I, O>>();
            var batch = locked(() -> {
                chosen.removeIf(piece -> piece.submission().hasEnded());
                int room = runner.room();
                if (room > 0 && (!chosen.isEmpty() || ripeInNanos() <= 0)) {
                    line.fill(chosen, room, now(), this::expire);
                }
                var callers = Submission.of(chosen);
                if (asked.containsAll(callers)) {
                    return chosen.isEmpty() ? Optional.<Batch<I, O>>empty() : Optional.of(start(chosen, runner));
                }
                toAsk.addAll(callers);
                toAsk.addAll(keepingPlaces());
                toAsk.removeAll(asked);
                return Optional.<Batch<I, O>>empty();
            });
            if (toAsk.isEmpty()) {
                return batch;
            }
            asked.addAll(toAsk);
            endAbandoned(toAsk);
        }
    }

    private Batch<I, O> start(List<Pending<I, O>> chosen, Runner<I, O> runner) {
        long now = now();
        for (var piece : chosen) {
            piece.submission().start(piece, now);
            if (piece.isFirst()) {
                metrics.queueWait.record(Duration.ofNanos(now - piece.submission().arrivedAt));
            }
        }
        runner.take(chosen);
        var batch = runner.begin(chosen);
        line.moved(batch.lengths(), now);
        if (hasLine()) {
            workers.wake();
        }
        return batch;
    }

    /// The requests that would keep their places though their callers may have gone: no worker comes
    /// to the first ones where the newest is served first, and there is no room for others in a full
    /// queue.
    private Collection<Submission<I, O>> keepingPlaces() {
        long now = now();
        if ((isFull() || line.isNewestFirst(now)) && now - askedAt >= ASKED_EVERY.toNanos()) {
            askedAt = now;
            return line.untouched();
        }
        return List.of();
    }

    /// Ends those requests whose callers have gone. They are asked without the lock.
    private void endAbandoned(Collection<Submission<I, O>> asked) {
        asked.stream().filter(Submission::isAbandoned).forEach(this::abandon);
    }

    /// @param value null where the sink has had it in parts. The lock is held, as in all that end
    ///   requests
    void answer(Pending<I, O> piece, O value) {
        var request = piece.submission();
        if (!request.hasEnded() && request.answer(piece.index(), value)) {
            end(request, null);
            line.answered();
        }
    }

    /// Refuses all requests, because no worker will answer them.
    void refuseAll(String why) {
        List.copyOf(open).forEach(request -> end(request, ErrorType.NOT_READY.because(why)));
    }

    void expire(Submission<I, O> request) {
        if (!request.hasEnded()) {
            metrics.expired.increment();
            leave(
                    request,
                    ErrorType.DEADLINE_EXCEEDED.because(
                            request.hasStarted()
                                    ? "the request's time ran out while %s ran".formatted(workers.predictor)
                                    : "the request's time ran out while it was queued"));
        }
    }

    @Override
    void abandon(Submission<I, O> request) {
        locked(() -> {
            if (!request.hasEnded()) {
                leave(request, ErrorType.CALLER_GONE.because("the caller has gone away"));
            }
        });
    }

    private void leave(Submission<I, O> request, ServingException why) {
        // A caller that leaves while an answer comes in parts has not waited for too long.
        if (!workers.predictsInSteps() || !request.hasStarted()) {
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
        request.end(failure, now());
        ended.add(request);
        if (failure != null) {
            metrics.abandoned.increment(request.recordsNotStarted());
            workers.runners.forEach(Runner::interruptIfUnwanted);
            // A worker may hold the state of its streams.
            workers.wake();
        }
    }

    @Override
    void ask(Submission<I, O> request) {
        locked(() -> {
            long now = now();
            if (request.isExpired(now)) {
                expire(request);
            } else {
                workers.runners.forEach(runner -> runner.interruptFor(request, now));
                workers.wake();
            }
        });
    }

    /// For what only the lock makes visible.
    void locked(Runnable action) {
        locked(() -> {
            action.run();
            return null;
        });
    }

    /// Requests that have ended are told without the lock.
    <T> T locked(Supplier<T> action) {
        List<Submission<I, O>> told = List.of();
        lock.lock();
        try {
            return action.get();
        } finally {
            if (lock.getHoldCount() == 1 && !ended.isEmpty()) {
                told = ended;
                ended = new ArrayList<>();
            }
            lock.unlock();
            told.forEach(Submission::tell);
        }
    }
}
