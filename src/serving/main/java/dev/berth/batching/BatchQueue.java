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

/// The requests of a model that have not ended, and where the pieces of their records are: in line,
/// or running in a batch. What records hold is bounded by the memory of requests, and how long they
/// take by the expected wait.
///
/// [#submit] takes a request in; workers [#take] a batch and say what became of it. The lock is that
/// of the [WorkerPool]. No foreign code runs under it. Two invariants: a piece waits only while its
/// request is open; a batch is in `running` from its [#run] to its [#stop], so an interrupt never
/// reaches a later batch.
final class BatchQueue<I, O> extends Submission.Queue<I, O> {

    /// How many callers a worker asks at a time whether they have gone, besides those of its batch.
    /// An answer takes about a microsecond.
    private static final int ASKED = 64;

    /// Rejections of requests with less time left do not count as overload: they come where the wait
    /// is half of it. Clients put up with so short a wait, in order of arrival.
    private static final Duration SHORT_DEADLINE = Duration.ofSeconds(4);

    final BatchLimits limits;
    private final LongSupplier clock;
    final ModelMetrics metrics;

    private final Batcher<I, O> workers;
    private final ReentrantLock lock;

    private final Set<Submission<I, O>> open = new LinkedHashSet<>();
    private final Turns<I, O> turns;
    private final Line<I, O> line;
    private final Set<Batch<I, O>> running = new LinkedHashSet<>();

    /// The requests that have ended and were not told yet, which must wait until the lock is free.
    private List<Submission<I, O>> ended = new ArrayList<>();

    private final WaitEstimate estimate = new WaitEstimate();

    BatchQueue(
            Batcher<I, O> workers, ReentrantLock lock, BatchLimits limits, LongSupplier clock, ModelMetrics metrics) {
        this.workers = workers;
        this.lock = lock;
        this.limits = limits;
        this.clock = clock;
        this.metrics = metrics;
        this.turns = new Turns<>(limits.targetDelay());
        this.line = new Line<>(limits, turns, metrics);
    }

    @Override
    long now() {
        return clock.getAsLong();
    }

    /// Queues all the pieces of a request, or none.
    ///
    /// @throws ServingException when it can't be queued
    void submit(Submission<I, O> request) {
        locked(() -> {
            requireRoom(request.pending.size(), request.deadline());
            if (line.pieces() == 0) {
                estimate.lineIsEmpty(now());
            }
            open.add(request);
            line.add(request);
            wakeWorker();
        });
    }

    /// Where the queue is full, requests whose callers have gone leave it first.
    ///
    /// @throws ServingException when not even one record can be queued
    void requireRoom(long deadline) {
        var asked = locked(() -> {
            var callers = isFull() ? turns.toAsk(ASKED) : List.<Submission<I, O>>of();
            if (callers.isEmpty()) {
                requireRoom(1, deadline);
            }
            return callers;
        });
        if (!asked.isEmpty()) {
            endAbandoned(asked);
            locked(() -> requireRoom(1, deadline));
        }
    }

    private boolean isFull() {
        return line.requests() >= limits.queueCapacity();
    }

    private void requireRoom(int pieces, long deadline) {
        workers.requireWorker();
        if (line.requests() == 0) {
            return;
        }
        long left = deadline - now();
        if (isFull()) {
            throw overloaded(
                    left,
                    "found %d requests waiting, expected fewer than %d"
                            .formatted(line.requests(), limits.queueCapacity()));
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
            turns.leftUnanswered();
        }
        return ErrorType.OVERLOADED.because("%s is overloaded: %s; try again later".formatted(workers.name, why));
    }

    /// How long a record that came now would wait.
    Duration expectedWait() {
        return locked(() -> line.requests() == 0 ? Duration.ZERO : Duration.ofNanos(expectedWait(1)));
    }

    private long expectedWait(int count) {
        long measured = estimate.of(line.lengthBefore(count));
        if (!workers.predictsInSteps()) {
            return measured;
        }
        // Were more places about to become free than a batch has, some of them would have, and the line
        // would have moved.
        long places = (long) workers.liveWorkers() * limits.maxBatchSize();
        return Math.max(measured, estimate.stillFor(now()) * line.pieces() / places);
    }

    /// The number of requests that wait.
    int size() {
        return locked(line::requests);
    }

    /// Whether records wait. The lock is held.
    boolean hasLine() {
        return line.requests() > 0;
    }

    /// In how long a batch should be made of what waits; zero or less: now. The lock is held.
    long ripeInNanos() {
        long now = now();
        while (true) {
            var oldest = line.oldest();
            if (oldest.isEmpty()) {
                return Long.MAX_VALUE;
            }
            if (!oldest.get().submission().isExpired(now)) {
                return line.delayNanos(oldest.get(), now);
            }
            expire(oldest.get().submission());
        }
    }

    /// Has a worker look for what it can do, such as records whose reader has caught up.
    @Override
    void wakeWorker() {
        locked(workers::wake);
    }

    /// Starts a batch that somebody waits for on the calling worker; where the worker predicts in
    /// steps, one record. Where records are left, the next worker is woken for them.
    ///
    /// Whether a caller has gone away is asked without the lock; the room that such callers leave is
    /// filled up again. Where the newest request is served first, some of those that wait are asked
    /// too, or they would keep their places.
    ///
    /// @return nothing: no batch should be made now
    Optional<Batch<I, O>> take(Runner<I, O> runner) {
        int most = runner.predictsInSteps() ? 1 : Integer.MAX_VALUE;
        var chosen = new ArrayList<Pending<I, O>>();
        var asked = new HashSet<Submission<I, O>>();
        while (true) {
            List<Submission<I, O>> toAsk;
            lock.lock();
            try {
                chosen.removeIf(piece -> piece.submission().hasEnded());
                do {
                    if (chosen.isEmpty() && ripeInNanos() > 0) {
                        return Optional.empty();
                    }
                    line.fill(chosen, most, now(), this::expire);
                } while (chosen.isEmpty());
                if (hasLine()) {
                    wakeWorker();
                }
                toAsk = new ArrayList<>(Submission.of(chosen));
                if (asked.containsAll(toAsk)) {
                    return Optional.of(start(chosen, runner));
                }
                if (asked.isEmpty() && turns.isNewestFirst(now())) {
                    toAsk.addAll(turns.toAsk(ASKED));
                }
                toAsk.removeAll(asked);
            } finally {
                unlockAndTell();
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
                metrics.queueWait.record(Duration.ofNanos(now - piece.arrivedAt()));
            }
        }
        var batch = run(chosen, runner);
        estimate.moved(batch.lengths(), hasLine(), now);
        return batch;
    }

    /// Registers a batch of the calling worker, so that the worker is interrupted when nobody waits
    /// for the batch any more.
    Batch<I, O> run(List<Pending<I, O>> pieces, Runner<I, O> runner) {
        return locked(() -> {
            var batch = new Batch<>(pieces, runner, now());
            running.add(batch);
            pieces.forEach(piece -> piece.submission().countInside(1));
            return batch;
        });
    }

    /// Starts one piece of a failed batch by itself; nothing: no caller waits for it.
    Optional<Batch<I, O>> retry(Pending<I, O> piece, Runner<I, O> runner) {
        return locked(
                () -> piece.submission().hasEnded() ? Optional.empty() : Optional.of(run(List.of(piece), runner)));
    }

    /// Ends a batch of the calling worker: an interrupt that has come for it ends with it, and none
    /// comes after.
    void stop(Batch<I, O> batch) {
        locked(() -> {
            if (running.remove(batch)) {
                batch.pending.forEach(piece -> piece.submission().countInside(-1));
            }
            Thread.interrupted();
            if (running.isEmpty() && !hasLine()) {
                estimate.forget();
            }
        });
    }

    /// @param values one for each piece
    void answer(Batch<I, O> batch, List<O> values) {
        locked(() -> {
            for (int i = 0; i < values.size(); i++) {
                answer(batch.pending.get(i), values.get(i));
            }
            stop(batch);
        });
    }

    /// @param value null where the sink has had it in parts. The lock is held, as in all that end
    ///   requests
    void answer(Pending<I, O> piece, O value) {
        var request = piece.submission();
        if (!request.hasEnded() && request.answer(piece.index(), value)) {
            end(request, null);
            turns.answered();
        }
    }

    /// Fails all that a worker has taken.
    void failTaken(Runner<I, O> runner, Throwable cause) {
        var batches =
                running.stream().filter(batch -> batch.runner.equals(runner)).toList();
        batches.forEach(batch -> {
            stop(batch);
            Submission.of(batch.pending).forEach(request -> end(request, cause));
        });
        Submission.of(runner.held()).forEach(request -> end(request, cause));
    }

    /// Refuses all requests, because no worker will answer them.
    void refuseAll(String why) {
        List.copyOf(open).forEach(request -> end(request, ErrorType.NOT_READY.because(why)));
    }

    void expire(Submission<I, O> request) {
        if (open.contains(request)) {
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
            if (open.contains(request)) {
                leave(request, ErrorType.CALLER_GONE.because("the caller has gone away"));
            }
        });
    }

    private void leave(Submission<I, O> request, ServingException why) {
        // A caller that leaves while an answer comes in parts has not waited for too long.
        if (!request.isStreaming()) {
            turns.leftUnanswered();
        }
        end(request, why);
    }

    /// Ends those requests whose callers have gone. They are asked without the lock.
    private void endAbandoned(Collection<Submission<I, O>> asked) {
        asked.stream().filter(Submission::isAbandoned).forEach(this::abandon);
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
            running.forEach(Batch::interruptIfUnwanted);
            // A worker may hold the state of its streams.
            wakeWorker();
        }
    }

    /// Ends a request whose time is over. Where it still has some, it has batches that have had as
    /// much as is left taken apart: one slow record must not take the time of the others.
    @Override
    void ask(Submission<I, O> request) {
        locked(() -> {
            long now = now();
            if (request.isExpired(now)) {
                expire(request);
                return;
            }
            running.stream()
                    .filter(batch -> now - batch.startedAt >= request.deadline() - now)
                    .filter(batch -> batch.keepsWaiting(request))
                    .forEach(Batch::takeApart);
        });
    }

    /// The batches that have run for `grace` longer than any of their requests may take. The lock is
    /// held.
    List<Batch<I, O>> overdue(Duration grace) {
        long now = now();
        return running.stream()
                .filter(batch -> batch.isOverdue(now, grace.toNanos()))
                .toList();
    }

    /// The lock is held.
    List<Batch<I, O>> runningFor(Duration time) {
        long now = now();
        return running.stream()
                .filter(batch -> now - batch.startedAt >= time.toNanos())
                .toList();
    }

    /// For what only the lock makes visible.
    void locked(Runnable action) {
        locked(() -> {
            action.run();
            return null;
        });
    }

    <T> T locked(Supplier<T> action) {
        lock.lock();
        try {
            return action.get();
        } finally {
            unlockAndTell();
        }
    }

    /// Requests that have ended are told without the lock. One that expires while a worker waits for
    /// records is told late, and its caller knows by itself that its time is over.
    private void unlockAndTell() {
        if (lock.getHoldCount() > 1 || ended.isEmpty()) {
            lock.unlock();
            return;
        }
        var told = ended;
        ended = new ArrayList<>();
        lock.unlock();
        told.forEach(Submission::tell);
    }
}
