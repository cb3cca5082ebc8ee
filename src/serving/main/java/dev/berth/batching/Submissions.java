package dev.berth.batching;

import dev.berth.batching.Submission.Ending;
import dev.berth.batching.Submission.Pending;
import dev.berth.metrics.ModelMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.LongSupplier;

/// The requests that have not ended, and where the pieces of their records are: waiting, or running
/// in a batch.
///
/// Holds no lock and never waits; the lock of the [WorkerPool] guards it. Two invariants: a piece
/// waits only while its request is open, so nothing waits for nobody; a batch is in `running` from
/// its [#run] to its [#stop], so an interrupt never reaches a later batch.
final class Submissions<I, O> {

    private final BatchPolicy policy;
    private final LongSupplier clock;
    private final ModelMetrics metrics;

    private final Set<Submission<I, O>> open = new LinkedHashSet<>();

    /// Those of more than one piece. What is asked for each request that comes goes through these
    /// alone, since there may be a thousand of the others.
    private final Set<Submission<I, O>> several = new LinkedHashSet<>();

    private final Buckets<I, O> waiting = new Buckets<>();
    private final Turns<I, O> turns;

    private final Set<Batch<I, O>> running = new LinkedHashSet<>();

    /// Those that have ended and were not told yet, which must wait until the lock is free.
    private List<Submission<I, O>> ended = new ArrayList<>();

    /// The pieces of batches that were taken apart: each is predicted by itself, before anything
    /// else.
    private final SequencedSet<Pending<I, O>> apart = new LinkedHashSet<>();

    private final WaitEstimate estimate = new WaitEstimate();

    Submissions(BatchPolicy policy, LongSupplier clock, ModelMetrics metrics) {
        this.policy = policy;
        this.clock = clock;
        this.metrics = metrics;
        this.turns = new Turns<>(policy.limits().targetDelay());
    }

    /// The number of requests that wait. One of which some pieces wait counts as one.
    int waiting() {
        return turns.size();
    }

    /// How long a request of `count` pieces would wait on so many workers: in turn with those that
    /// wait, so for as many pieces of each.
    ///
    /// @param queues how many models take turns on the workers
    Duration expectedWait(int count, int workers, int queues) {
        long later = several.stream()
                .mapToLong(submission -> submission.lengthBehind(count))
                .sum();
        var measured = estimate.of(waiting.length() - later, workers, queues);
        // Were more places about to become free than a batch has, some of them would have, and the line
        // would have moved.
        long places = (long) workers * policy.limits().maxBatchSize();
        var atLeast = estimate.stillFor(clock.getAsLong())
                .multipliedBy(waiting.size())
                .dividedBy(places);
        return measured.compareTo(atLeast) > 0 ? measured : atLeast;
    }

    void add(Submission<I, O> submission) {
        if (waiting.size() == 0) {
            estimate.lineIsEmpty(clock.getAsLong());
        }
        open.add(submission);
        if (submission.pending.size() > 1) {
            several.add(submission);
        }
        submission.pending.forEach(waiting::add);
        turns.add(submission);
        metrics.requestQueued(submission.records());
    }

    /// Ends the requests whose time ran out while they stood first in line.
    void endExpired() {
        long now = clock.getAsLong();
        for (var oldest = waiting.oldest();
                oldest.isPresent() && oldest.get().submission().isExpired(now);
                oldest = waiting.oldest()) {
            end(oldest.get().submission(), new Ending.Expired());
        }
    }

    /// How long the next batch should wait to be fuller; zero or less: not at all. There must be a
    /// piece that waits.
    long delayNanos() {
        var oldest = waiting.oldest().orElseThrow();
        return policy.delayNanos(waiting.line(oldest), clock.getAsLong());
    }

    /// Drops the chosen pieces whose request has ended since they left the line.
    void dropEnded(List<Pending<I, O>> chosen) {
        var dropped = chosen.stream()
                .filter(pending -> pending.submission().hasEnded())
                .toList();
        chosen.removeAll(dropped);
        // Records that had other pieces in the line were counted when those left it.
        metrics.abandoned.increment((int) dropped.stream()
                .filter(pending -> pending.submission().hasTaken(pending.record()))
                .map(pending -> Map.entry(pending.submission(), pending.record()))
                .distinct()
                .count());
    }

    /// Whether more requests come than can be answered, so that callers may leave who are not looked
    /// at.
    boolean isNewestFirst() {
        return turns.isNewestFirst(clock.getAsLong());
    }

    /// Says that a request was not let in, because too many wait.
    void turnedAway() {
        turns.leftUnanswered();
    }

    /// Some of the requests that wait, to ask whether their callers have gone: others at each call.
    List<Submission<I, O>> toAsk(int count) {
        return turns.toAsk(count);
    }

    /// Moves pieces that wait into `chosen`, as many as go together with those that it holds; with
    /// the one whose turn it is, where it holds none. There must be a piece that waits or is chosen.
    ///
    /// @param most how many it may hold
    void fill(List<Pending<I, O>> chosen, int most) {
        long now = clock.getAsLong();
        while (chosen.isEmpty()) {
            if (waiting.size() == 0) {
                return;
            }
            var next = turns.next(now);
            if (next.isExpired(now)) {
                end(next, new Ending.Expired());
            } else {
                take(next.firstWaiting(waiting::contains).orElseThrow(), chosen);
            }
        }
        int longest = chosen.stream().mapToInt(Pending::length).max().orElse(0);
        var line = waiting.line(chosen.getFirst());
        boolean newestFirst = turns.isNewestFirst(now);
        while (!line.isEmpty() && chosen.size() < most) {
            var next = newestFirst ? line.getLast() : line.getFirst();
            if (next.submission().isExpired(now)) {
                end(next.submission(), new Ending.Expired());
            } else if (policy.hasRoom(chosen.size(), longest, next.length())) {
                take(next, chosen);
                longest = Math.max(longest, next.length());
            } else {
                return;
            }
        }
    }

    private void take(Pending<I, O> pending, List<Pending<I, O>> chosen) {
        waiting.remove(pending);
        var submission = pending.submission();
        submission.take(pending);
        turns.taken(submission);
        if (submission.left() == 0) {
            metrics.requestDequeued();
        }
        chosen.add(pending);
    }

    /// Starts a batch of chosen pieces on the calling worker.
    Batch<I, O> start(List<Pending<I, O>> chosen, int worker, Batch.Kind kind) {
        long now = clock.getAsLong();
        for (var pending : chosen) {
            pending.submission().start(now);
            if (pending.isFirst()) {
                metrics.queueWait.record(pending.submission().sinceArrival(now));
            }
            if (kind == Batch.Kind.STEP) {
                estimate.recordBegun(pending.length(), waiting.size() > 0, now);
            }
        }
        return run(chosen, worker, kind);
    }

    /// Registers a batch of the calling worker, so that the worker is interrupted when nobody waits
    /// for the batch any more.
    Batch<I, O> run(List<Pending<I, O>> records, int worker, Batch.Kind kind) {
        var batch = new Batch<>(records, worker, Thread.currentThread(), clock.getAsLong(), waiting.size() > 0, kind);
        running.add(batch);
        records.forEach(pending -> pending.submission().countInside(1));
        return batch;
    }

    boolean hasApart() {
        return !apart.isEmpty();
    }

    /// Starts the next piece of a batch that was taken apart on the calling worker. There must be
    /// one.
    Batch<I, O> startApart(int worker) {
        return run(List.of(apart.removeFirst()), worker, Batch.Kind.RETRY);
    }

    /// Takes the batches apart that have had half of the time that a request had left: one slow
    /// record must not take the time of the others. Those of its records that wait for such a slow
    /// one, each by itself by now, go before it.
    void takeApart(Submission<I, O> impatient) {
        long now = clock.getAsLong();
        impatient.bePatient(now);
        for (var batch : List.copyOf(running)) {
            if (batch.isTakenApart() || !keepsWaiting(batch, impatient)) {
                continue;
            }
            if (impatient.halfTime(batch.startedAt) - now > 0) {
                impatient.bePatient(batch.startedAt);
            } else {
                batch.takeApart();
                if (batch.kind == Batch.Kind.STEP) {
                    // Its worker has what belongs to its records, and goes on with each by itself.
                    continue;
                }
                batch.pending.stream()
                        .filter(pending -> !pending.submission().isDone(pending.index()))
                        .forEach(apart::addLast);
            }
        }
    }

    private boolean keepsWaiting(Batch<I, O> batch, Submission<I, O> request) {
        var requests = Submission.of(batch.pending);
        return switch (batch.kind) {
            case FIRST -> requests.size() > 1 && requests.contains(request);
            case RETRY ->
                !requests.contains(request) && apart.stream().anyMatch(pending -> pending.submission() == request);
            case STEP -> request.isOn(batch.worker) && (requests.size() > 1 || !requests.contains(request));
        };
    }

    /// Ends a batch of the calling worker: an interrupt that has come for it ends with it, and none
    /// comes after.
    void stop(Batch<I, O> batch) {
        if (running.remove(batch)) {
            batch.pending.forEach(pending -> pending.submission().countInside(-1));
        }
        Thread.interrupted();
        if (running.isEmpty() && waiting.size() == 0) {
            estimate.forget();
        }
    }

    /// @param values one for each piece
    void answer(Batch<I, O> batch, List<O> values) {
        estimate.record(batch, clock.getAsLong());
        for (int i = 0; i < values.size(); i++) {
            var pending = batch.pending.get(i);
            var submission = pending.submission();
            apart.remove(pending);
            if (!submission.isDone(pending.index()) && submission.answer(pending.index(), values.get(i))) {
                end(submission, new Ending.Answered());
            }
        }
    }

    /// Takes it that a record has had all its parts.
    void finish(Pending<I, O> pending) {
        var submission = pending.submission();
        if (!submission.isDone(pending.index()) && submission.answer(pending.index(), null)) {
            end(submission, new Ending.Answered());
        }
    }

    /// The batches that have run for `grace` longer than any of their requests may take.
    List<Batch<I, O>> overdue(long grace) {
        long now = clock.getAsLong();
        return running.stream().filter(batch -> batch.isOverdue(now, grace)).toList();
    }

    List<Batch<I, O>> runningFor(long nanos) {
        long now = clock.getAsLong();
        return running.stream().filter(batch -> now - batch.startedAt >= nanos).toList();
    }

    /// The requests that have ended since this was asked last, for whoever holds the lock to tell
    /// when it is free.
    List<Submission<I, O>> takeEnded() {
        if (ended.isEmpty()) {
            return List.of();
        }
        var taken = ended;
        ended = new ArrayList<>();
        return taken;
    }

    void endAll(Ending how) {
        endAll(open, how);
    }

    void endAll(Collection<Submission<I, O>> submissions, Ending how) {
        List.copyOf(submissions).forEach(submission -> end(submission, how));
    }

    /// Ends a request, unless it has ended: its pieces stop waiting, and batches that nobody waits
    /// for any more are interrupted.
    void end(Submission<I, O> submission, Ending how) {
        if (!open.remove(submission)) {
            return;
        }
        several.remove(submission);
        turns.remove(submission);
        submission.end(how, clock.getAsLong());
        ended.add(submission);
        switch (how) {
            // Every piece has been through the predictor: none waits.
            case Ending.Answered() -> turns.answered();
            case Ending.Expired() -> {
                metrics.expired.increment();
                withdrawLate(submission);
            }
            case Ending.Abandoned() -> withdrawLate(submission);
            case Ending.Failed _, Ending.Refused _ -> withdraw(submission);
        }
    }

    private void withdrawLate(Submission<I, O> submission) {
        // Who leaves while an answer comes in parts has not waited for too long.
        if (!submission.isOnWorkers()) {
            turns.leftUnanswered();
        }
        withdraw(submission);
    }

    private void withdraw(Submission<I, O> submission) {
        submission.pending.forEach(waiting::remove);
        submission.pending.forEach(apart::remove);
        if (submission.left() > 0) {
            metrics.requestDequeued();
        }
        metrics.abandoned.increment(submission.leftRecords());
        running.forEach(Batch::interruptIfUnwanted);
    }
}
