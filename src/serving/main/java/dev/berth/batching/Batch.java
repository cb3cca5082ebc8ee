package dev.berth.batching;

import dev.berth.batching.Submission.Pending;
import dev.berth.telemetry.RequestTrace;
import dev.berth.telemetry.Step;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Records that go through a predictor together, and the worker that has them. The records never
/// change; what becomes of the batch is guarded by the lock of the [WorkerPool].
final class Batch<I, O> {

    final List<Pending<I, O>> pending;
    final int worker;

    final Thread thread;
    final long startedAt;
    final boolean hasFollowers;
    final Kind kind;
    private boolean interrupted;
    private boolean takenApart;

    enum Kind {
        /// Records that have not run.
        FIRST,
        /// One record of a batch that was taken apart.
        RETRY,
        /// A step of records that their worker keeps between steps, or the beginning of one.
        STEP
    }

    /// @param hasFollowers whether records were left to wait when it started
    Batch(List<Pending<I, O>> pending, int worker, Thread thread, long startedAt, boolean hasFollowers, Kind kind) {
        this.pending = List.copyOf(pending);
        this.worker = worker;
        this.thread = thread;
        this.startedAt = startedAt;
        this.hasFollowers = hasFollowers;
        this.kind = kind;
    }

    int size() {
        return pending.size();
    }

    /// The records as the predictor takes them; a record may be null where the caller's was.
    List<I> records() {
        return pending.stream().map(Pending::value).toList();
    }

    long lengths() {
        return pending.stream().mapToLong(Pending::length).sum();
    }

    /// The log context of its requests: what they have under one name, with commas between.
    Map<String, String> logContext() {
        var requests = Submission.of(pending);
        if (requests.size() == 1) {
            return requests.getFirst().caller.logContext();
        }
        var joined = new HashMap<String, String>();
        requests.forEach(request -> request.caller
                .logContext()
                .forEach((name, value) ->
                        joined.merge(name, value, (one, other) -> one.equals(other) ? one : one + "," + other)));
        return joined;
    }

    /// Begins the batch in the traces of its requests.
    Step trace(String name) {
        var first = pending.getFirst().submission().caller.trace();
        return first.equals(RequestTrace.NONE)
                ? Step.NONE
                : first.batch(
                        name,
                        Submission.of(pending).stream()
                                .map(request -> request.caller.trace())
                                .toList(),
                        new RequestTrace.BatchSize(size(), lengths()),
                        worker);
    }

    long paddedLengths() {
        return (long) size() * pending.stream().mapToInt(Pending::length).max().orElse(0);
    }

    boolean isTakenApart() {
        return takenApart;
    }

    /// Gives the batch up: its records are predicted again, each by itself. Nobody waits for the
    /// batch any more.
    void takeApart() {
        takenApart = true;
        interrupt();
    }

    /// Whether it runs although the deadline of each of its requests is past for as long as `grace`.
    boolean isOverdue(long now, long grace) {
        return pending.stream().allMatch(p -> now - p.submission().deadline() >= grace);
    }

    boolean isUnwanted() {
        return pending.stream().allMatch(p -> p.submission().hasEnded());
    }

    /// Interrupts the worker, once, when no request waits for the batch any more.
    void interruptIfUnwanted() {
        if (isUnwanted()) {
            interrupt();
        }
    }

    private void interrupt() {
        if (!interrupted) {
            interrupted = true;
            thread.interrupt();
        }
    }
}
