package dev.berth.serving;

import dev.berth.batching.PartSink;
import dev.berth.batching.Parts;
import dev.berth.batching.PredictionTimes;
import dev.berth.batching.Submission;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.StreamingHandler;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.hooks.HookFailure;
import dev.berth.serving.hooks.HookPool;
import dev.berth.serving.hooks.Hooks;
import dev.berth.serving.hooks.Hooks.Hook;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/// One request on its way. Its hooks run on threads that all models share and its records on the workers: each
/// step hands over to the next one, and the request's own thread waits for the end.
final class Flight<I, O> {

    private static final long LEAST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /// How often a request that waits looks whether its caller has gone. A look takes about a
    /// microsecond.
    private static final long MOST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    /// What a record, or a piece of one, takes here and in the queue, in bytes.
    private static final long PIECE = 256;

    private final LoadedModel<?, I, O> model;
    private final Hooks<?, I, O> hooks;

    /// Nothing where the hooks predict at once.
    private final Optional<StreamingHandler<?, I, O, ?>> streaming;

    private final InvocationRequest request;
    private final Call call;
    private final long begunAt;
    private CompletableFuture<ServedAnswer> answer = CompletableFuture.completedFuture(null);

    /// A request in other words may leave less time.
    private volatile Deadline deadline;

    /// The hook that runs or ran last.
    private volatile HookPool.Run<?> run;

    /// The place of the records in the queue; null before they are there.
    private volatile Submission<I, O> submission;

    /// What `inputFn` has made of the request.
    ///
    /// @param request in the words of the hooks
    /// @param parts what is predicted, of an answer that is whole
    /// @param streamedAs the type of an answer that leaves part by part; nothing: it is whole
    private record Decoded<I, O>(
            InvocationRequest request,
            Hooks.Records<I> records,
            Parts<O> parts,
            Optional<MediaType> streamedAs,
            Duration took) {}

    Flight(LoadedModel<?, I, O> model, InvocationRequest request, Call call) {
        this.model = model;
        this.hooks = model.hooks;
        this.streaming =
                hooks.handler instanceof StreamingHandler<?, I, O, ?> handler ? Optional.of(handler) : Optional.empty();
        this.request = request;
        this.call = call;
        this.deadline = call.deadline();
        this.begunAt = deadline.clock().getAsLong();
    }

    /// The whole way.
    ///
    /// @throws ServingException for every way in which this can fail
    ServedAnswer answer() {
        var translated = new CompletableFuture<Void>();
        answer = run(Hook.INPUT_FN, entered -> decode(translated, entered))
                .thenCompose(decoded -> decoded.streamedAs.isPresent()
                        ? stream(decoded)
                        : predict(decoded)
                                .thenCompose(times -> run(Hook.OUTPUT_FN, entered -> encode(decoded, times, entered))));
        if (!call.dialect().equals(Dialect.NONE)) {
            var _ = await(CompletableFuture.anyOf(translated, answer));
        }
        return await(answer);
    }

    /// Completed when no hook and no predictor works for the request any more. One that was left
    /// behind may, after the answer.
    CompletableFuture<Void> left() {
        return answer.handle((_, _) -> submission)
                .thenCompose(queued -> queued == null ? CompletableFuture.completedFuture(null) : queued.released());
    }

    private <T> T await(CompletableFuture<T> step) {
        while (true) {
            try {
                return step.get(patienceNanos(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException _) {
                if (submission != null) {
                    submission.ask();
                }
                if (deadline.isOver() && !run.result().isDone()) {
                    throw run.cancel();
                }
            } catch (InterruptedException e) {
                if (submission != null) {
                    submission.abandon();
                }
                var _ = run.cancel();
                throw HookFailure.of(hooks.predicting(), e);
            } catch (ExecutionException e) {
                // What a predictor threw is counted where it ran.
                if (submission == null || !submission.predicted().isCompletedExceptionally()) {
                    model.metrics.caught(e.getCause());
                }
                throw HookFailure.of(hooks.predicting(), e);
            }
        }
    }

    /// Until the deadline, or until something may have kept the request waiting for too long.
    private long patienceNanos() {
        return Math.clamp(deadline.nanosLeft() / 2, LEAST_WAIT_NANOS, MOST_WAIT_NANOS);
    }

    private <T> CompletableFuture<T> run(Hook hook, HookPool.Body<T> body) {
        var memory = call.memory();
        HookPool.Run<T> next = model.pool.start(
                hooks.name(hook),
                deadline,
                call.caller().logContext(),
                memory.isLarge(),
                entered -> memory.call(() -> {
                    var trace = call.caller().trace().step(hook.method);
                    try {
                        return body.call(entered);
                    } catch (Throwable e) {
                        trace.failed(e);
                        throw e;
                    } finally {
                        trace.close();
                    }
                }));
        run = next;
        return next.result();
    }

    /// @param translated completed when the deadline will not change any more
    private Decoded<I, O> decode(CompletableFuture<Void> translated, Consumer<String> entered) throws Exception {
        long start = System.nanoTime();
        var understood = call.dialect().request(request);
        var left = understood.remaining();
        if (left.toNanos() < deadline.nanosLeft()) {
            deadline = Deadline.in(left, deadline.clock());
        }
        translated.complete(null);
        var records = hooks.decode(understood, entered);
        call.memory().add(PIECE * records.pieces().values().size());
        if (streaming.isPresent()
                && records.pieces().values().size() > records.values().size()) {
            throw ErrorType.INTERNAL.because(
                    "%s returned several pieces, expected the record that stepFn predicts part by part"
                            .formatted(hooks.name(Hook.SPLIT)));
        }
        var parts = new Parts<O>(records.pieces().values().size(), deadline.nanos(), call.memory());
        var type = records.isEmpty() ? Optional.<MediaType>empty() : streaming.flatMap(this::streamedAs);
        var took = Duration.ofNanos(System.nanoTime() - start);
        model.metrics.decode.record(took);
        return new Decoded<>(understood, records, parts, type, took);
    }

    private Optional<MediaType> streamedAs(StreamingHandler<?, I, O, ?> streaming) {
        return call.streams()
                .flatMap(limits -> limits.isSocket()
                        ? Optional.of(streaming.streamedAs(request).orElse(request.accept()))
                        : streaming.streamedAs(request));
    }

    private CompletableFuture<PredictionTimes> predict(Decoded<I, O> decoded) {
        return decoded.records.isEmpty()
                ? CompletableFuture.completedFuture(PredictionTimes.NONE)
                : submit(decoded, decoded.parts);
    }

    /// Completed when there is a part, or there will be none.
    private CompletableFuture<ServedAnswer> stream(Decoded<I, O> decoded) {
        var streamed = new ServedAnswer.Streamed<O>(
                this::encodePart, decoded.streamedAs.orElseThrow(), call, model.metrics.streams(), deadline, begunAt);
        var predicted = submit(decoded, streamed);
        streamed.comesFrom(submission);
        var _ = predicted.whenComplete((times, failure) -> {
            if (failure == null) {
                streamed.end(invocation(decoded, times, Duration.ZERO));
            } else {
                streamed.fail(HookFailure.inside(hooks.predicting(), failure));
            }
        });
        return streamed.begun();
    }

    /// Has the records predicted. The thread that ends them, mostly a worker's, says so.
    private CompletableFuture<PredictionTimes> submit(Decoded<I, O> decoded, PartSink<O> sink) {
        call.caller().trace().queued();
        submission = model.batcher.submit(decoded.records.pieces(), sink, call.caller());
        return submission.predicted();
    }

    private byte[] encodePart(O part, int index) {
        var partFn = hooks.name(Hook.PART_FN);
        try {
            var data = streaming.orElseThrow().partFn(part, index, request);
            return hooks.require(data, Hook.PART_FN, "the bytes of a part");
        } catch (Throwable e) {
            model.metrics.caught(e);
            throw HookFailure.inside(partFn, e);
        }
    }

    private ServedAnswer encode(Decoded<I, O> decoded, PredictionTimes times, Consumer<String> entered)
            throws Exception {
        long start = System.nanoTime();
        var response = hooks.encode(
                decoded.records, decoded.parts.ofPieces(), streaming.isPresent(), decoded.request, entered);
        var translated = call.dialect().response(response);
        var took = Duration.ofNanos(System.nanoTime() - start);
        model.metrics.encode.record(took);
        return new ServedAnswer.Whole(translated, invocation(decoded, times, took));
    }

    private Invocation invocation(Decoded<I, O> decoded, PredictionTimes times, Duration encoded) {
        return new Invocation(
                decoded.records.values().size(), decoded.took, times.queued(), times.predicted(), encoded);
    }
}
