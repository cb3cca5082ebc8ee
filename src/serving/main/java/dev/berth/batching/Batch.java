package dev.berth.batching;

import dev.berth.batching.Submission.Pending;
import dev.berth.telemetry.RequestTrace;
import dev.berth.telemetry.Step;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Records that the calling worker's predictor has at once. They never change; whether the batch was
/// interrupted is guarded by the lock of the [WorkerPool].
final class Batch<I, O> {

    final List<Pending<I, O>> pieces;
    final long startedAt;

    private final Thread thread = Thread.currentThread();
    private boolean interrupted;

    Batch(List<Pending<I, O>> pieces, long startedAt) {
        this.pieces = List.copyOf(pieces);
        this.startedAt = startedAt;
    }

    int size() {
        return pieces.size();
    }

    /// The records as the predictor takes them; a record may be null where the caller's was.
    List<I> records() {
        return pieces.stream().map(Pending::value).toList();
    }

    long lengths() {
        return pieces.stream().mapToLong(Pending::length).sum();
    }

    long paddedLengths() {
        return (long) size() * pieces.stream().mapToInt(Pending::length).max().orElse(0);
    }

    /// The log context of its requests: what they have under one name, with commas between.
    Map<String, String> logContext() {
        var requests = Submission.of(pieces);
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
    Step trace(String name, int worker) {
        var traces = Submission.of(pieces).stream()
                .map(request -> request.caller.trace())
                .toList();
        return traces.getFirst().batch(name, traces, new RequestTrace.BatchSize(size(), lengths()), worker);
    }

    boolean isOfOthersThan(Submission<I, O> request) {
        return pieces.stream().anyMatch(piece -> piece.submission() != request);
    }

    /// Whether no request waits for it any more.
    boolean isUnwanted() {
        return pieces.stream().allMatch(piece -> piece.submission().hasEnded());
    }

    /// Whether the deadline of each of its requests is past for as long as `grace`.
    boolean isOverdue(long now, long grace) {
        return pieces.stream().allMatch(piece -> piece.submission().isExpired(now - grace));
    }

    /// Interrupts the predictor, once. A batch of several then fails, and its records are tried one by
    /// one.
    void interrupt() {
        if (!interrupted) {
            interrupted = true;
            thread.interrupt();
        }
    }

    boolean isInterrupted() {
        return interrupted;
    }
}
