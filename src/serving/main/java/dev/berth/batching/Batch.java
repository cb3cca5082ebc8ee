package dev.berth.batching;

import dev.berth.hooks.ModelUnusableException;
import dev.berth.hooks.PartStream;
import dev.berth.metrics.ModelMetrics;
import dev.berth.telemetry.RequestTrace;
import dev.berth.telemetry.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.MDC;

/// Pieces that the calling worker's predictor has at once. They never change; whether the batch was
/// interrupted is written under the lock of the [Batcher].
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

    /// Has the predictor predict the pieces, or make a step with them. It gives each what became of it.
    ///
    /// @param worker the predictor's, whose thread calls
    @SuppressWarnings("unchecked") // Nobody but the predictor looks at a state that it has made.
    void run(Predictor<I, O> predictor, int worker, ModelMetrics metrics, LongSupplier clock) throws Exception {
        pieces.forEach(Piece::beginStep);
        if (predictor instanceof Predictor.InSteps<I, O, ?> steps) {
            step((Predictor.InSteps<I, O, Object>) steps, worker, metrics, clock);
        } else {
            predict(predictor, worker, metrics, clock);
        }
    }

    private void predict(Predictor<I, O> predictor, int worker, ModelMetrics metrics, LongSupplier clock)
            throws Exception {
        MDC.setContextMap(logContext());
        var trace = trace("batch", worker);
        var step = trace.step("predictFn");
        try {
            // A record may be null where the caller's was.
            var records = pieces.stream().map(piece -> piece.value).toList();
            var values = Predictor.checked(predictor.predict(records), size());
            for (int i = 0; i < values.size(); i++) {
                pieces.get(i).emit(values.get(i));
                pieces.get(i).end();
            }
        } catch (Throwable e) {
            step.failed(e);
            trace.failed(e);
            throw e;
        } finally {
            step.close();
            trace.close();
            int longest = pieces.stream().mapToInt(piece -> piece.length).max().orElse(0);
            metrics.batchPredicted(
                    records(), lengths(), (long) records() * longest, Duration.ofNanos(clock.getAsLong() - startedAt));
        }
    }

    private void step(Predictor.InSteps<I, O, Object> predictor, int worker, ModelMetrics metrics, LongSupplier clock)
            throws Exception {
        var streams = new ArrayList<PartStream<Object, O>>();
        for (var piece : pieces) {
            if (piece.hasBegun || begin(piece, predictor, worker, metrics)) {
                streams.add(piece);
            }
        }
        if (streams.isEmpty()) {
            return;
        }
        MDC.setContextMap(logContext());
        long start = clock.getAsLong();
        try {
            predictor.step(streams);
        } finally {
            metrics.streams().stepped(streams.size(), Duration.ofNanos(clock.getAsLong() - start));
        }
    }

    /// Begins a record; false: it has failed. An interrupt fails the batch, which says whom it was for.
    private boolean begin(
            Piece<I, O> piece, Predictor.InSteps<I, O, Object> predictor, int worker, ModelMetrics metrics)
            throws Exception {
        var alone = new Batch<>(List.of(piece), taken, startedAt);
        var trace = alone.trace("stream", worker);
        MDC.setContextMap(alone.logContext());
        try {
            piece.begin(predictor.begin(piece.value), trace);
            metrics.streams().streams.incrementAndGet();
            return true;
        } catch (Throwable e) {
            trace.failed(e);
            trace.close();
            if (interrupted || e instanceof ModelUnusableException) {
                throw e;
            }
            metrics.caught(e);
            piece.moved = true;
            piece.failure = e;
            return false;
        }
    }

    private int records() {
        return pieces.stream().mapToInt(piece -> piece.size).sum();
    }

    private long lengths() {
        return pieces.stream().mapToLong(Piece::cost).sum();
    }

    /// The log context of its requests: what they have under one name, with commas between.
    private Map<String, String> logContext() {
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
    private Step trace(String name, int worker) {
        var traces = Submission.of(pieces).stream()
                .map(request -> request.caller.trace())
                .toList();
        return traces.getFirst().batch(name, traces, new RequestTrace.BatchSize(records(), lengths()), worker);
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
