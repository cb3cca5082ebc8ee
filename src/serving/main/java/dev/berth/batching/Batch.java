package dev.berth.batching;

import dev.berth.telemetry.RequestTrace;
import dev.berth.telemetry.Step;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Pieces that the calling worker's predictor has at once. They never change; whether the batch was
/// interrupted is written under the lock of the [BatchQueue].
final class Batch<I, O> {

    final List<Piece<I, O>> pieces;
    final long startedAt;

    private final Collection<Piece<I, O>> taken;
    private final Thread thread = Thread.currentThread();
    private volatile boolean interrupted;

    /// @param taken all pieces that the worker has, which the lock guards
    Batch(List<Piece<I, O>> pieces, Collection<Piece<I, O>> taken, long startedAt) {
        this.pieces = pieces;
        this.taken = taken;
        this.startedAt = startedAt;
    }

    int size() {
        return pieces.size();
    }

    /// The records as the predictor takes them; a record may be null where the caller's was.
    List<I> records() {
        return pieces.stream().map(piece -> piece.value).toList();
    }

    long lengths() {
        return pieces.stream().mapToLong(piece -> piece.length).sum();
    }

    long paddedLengths() {
        return (long) size()
                * pieces.stream().mapToInt(piece -> piece.length).max().orElse(0);
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

    /// Whether no request waits for it any more.
    boolean isUnwanted() {
        return pieces.stream().noneMatch(Piece::isWanted);
    }

    /// Whether the deadline of each of its requests is past for as long as `grace`.
    boolean isOverdue(long now, long grace) {
        return pieces.stream().allMatch(piece -> piece.request.isExpired(now - grace));
    }

    boolean isInterrupted() {
        return interrupted;
    }

    void interruptIfUnwanted() {
        if (isUnwanted()) {
            interrupt();
        }
    }

    /// Interrupts the predictor if the batch has run for as long as the request has left, and the
    /// request waits for records of others in it: one slow record must not take the time of the others.
    void interruptFor(Submission<I, O> request, long now) {
        if (now - startedAt >= request.sink.deadlineNanos() - now
                && pieces.stream().anyMatch(piece -> piece.request != request)
                && taken.stream().anyMatch(piece -> piece.request == request)) {
            interrupt();
        }
    }

    /// Interrupts the predictor, once. A batch of several then fails, and its records are tried one by
    /// one.
    private void interrupt() {
        if (!interrupted) {
            interrupted = true;
            thread.interrupt();
        }
    }
}
