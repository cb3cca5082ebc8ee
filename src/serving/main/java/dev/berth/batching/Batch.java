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
    final Runner<I, O> runner;
    final long startedAt;

    final Thread thread = Thread.currentThread();
    private boolean interrupted;
    private boolean takenApart;

    /// A batch of the calling thread.
    Batch(List<Pending<I, O>> pending, Runner<I, O> runner, long startedAt) {
        this.pending = List.copyOf(pending);
        this.runner = runner;
        this.startedAt = startedAt;
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

    long paddedLengths() {
        return (long) size() * pending.stream().mapToInt(Pending::length).max().orElse(0);
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
                        runner.worker);
    }

    /// Whether a request waits for records of others that are in it.
    boolean keepsWaiting(Submission<I, O> request) {
        return runner.holds(request) && pending.stream().anyMatch(piece -> piece.submission() != request);
    }

    boolean isTakenApart() {
        return takenApart;
    }

    /// Interrupts the predictor, so that the batch fails and its records are tried one by one.
    void takeApart() {
        takenApart = true;
        interrupt();
    }

    /// Whether it runs although the deadline of each of its requests is past for as long as `grace`.
    boolean isOverdue(long now, long grace) {
        return pending.stream().allMatch(piece -> now - piece.submission().deadline() >= grace);
    }

    /// Interrupts the predictor, once, when no request waits for the batch any more.
    void interruptIfUnwanted() {
        if (pending.stream().allMatch(piece -> piece.submission().hasEnded())) {
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
