package dev.berth.serving;

import dev.berth.batching.PartSink;
import dev.berth.batching.Predictions;
import dev.berth.batching.Submission;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.StreamingHandler;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.hooks.HookFailure;
import dev.berth.serving.hooks.HookRun;
import dev.berth.serving.hooks.Hooks;
import dev.berth.serving.hooks.Hooks.Hook;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

/// One request on its way: decoded on a thread of the pool, predicted by a worker, encoded on a
/// thread of the pool. Each step hands over to the next one, and the request's own thread waits for
/// the end.
final class Flight<I, O> {

    private static final long LEAST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /// What a record, or a piece of one, takes here and in the queue, in bytes.
    private static final long PIECE = 256;

    private final LoadedModel<?, I, O> model;
    private final Hooks<?, I, O> hooks;
    private final InvocationRequest request;
    private final Call call;
    private final long begunAt;
    private final CompletableFuture<ServedAnswer> landed = new CompletableFuture<>();

    /// Whether the request is in the words of the hooks, and its deadline will not change any more.
    private final CompletableFuture<Void> translated;

    private volatile Deadline deadline;

    /// The hook that is to run or runs, where it is not in the queue.
    private final AtomicReference<HookRun> run = new AtomicReference<>();

    /// The place of its records in the queue, once they are there.
    private volatile Submission<I, O> submission;

    /// The request in the words of the hooks.
    private InvocationRequest understood;

    private Hooks.Records<I> records;
    private Duration decoded;

    Flight(LoadedModel<?, I, O> model, InvocationRequest request, Call call) {
        this.model = model;
        this.hooks = model.hooks;
        this.request = request;
        this.call = call;
        this.deadline = call.deadline();
        this.begunAt = deadline.clock().getAsLong();
        this.translated = call.dialect().equals(Dialect.NONE)
                ? CompletableFuture.completedFuture(null)
                : new CompletableFuture<>();
    }

    ServedAnswer await() {
        // The next hook may be there already.
        run.compareAndSet(null, start(Hook.INPUT_FN, this::decode));
        while (true) {
            try {
                if (translated.isDone()) {
                    return landed.get(patienceNanos(), TimeUnit.NANOSECONDS);
                }
                CompletableFuture.anyOf(translated, landed).get(patienceNanos(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                boolean over = deadline.isOver();
                var queued = submission;
                if (queued != null) {
                    queued.ask();
                }
                if (over && !landed.isDone()) {
                    throw late(queued, e);
                }
            } catch (InterruptedException e) {
                if (submission != null) {
                    submission.abandon();
                }
                run.get().cancel();
                throw HookFailure.of(hooks.predicting(), e);
            } catch (ExecutionException e) {
                throw (ServingException) e.getCause();
            }
        }
    }

    /// Whether a hook or a predictor still works for it. One that was left behind may, after the
    /// flight has ended.
    boolean isInside() {
        var last = run.get();
        return (last != null && last.isInside()) || (submission != null && submission.isInside());
    }

    /// Ends what still goes on, and says what that was.
    ///
    /// @param queued has ended since it was asked past its deadline; null where the records are not
    ///   in the queue yet
    private ServingException late(Submission<I, O> queued, TimeoutException e) {
        try {
            if (queued != null) {
                queued.predictions();
            }
            return ErrorType.DEADLINE_EXCEEDED.because(
                    "the request's time ran out while " + run.get().cancel(), e);
        } catch (ExecutionException ended) {
            return HookFailure.of(hooks.predicting(), ended);
        }
    }

    /// Until the deadline, or until something may have kept the request waiting for too long.
    private long patienceNanos() {
        return Math.max(deadline.nanosLeft() / 2, LEAST_WAIT_NANOS);
    }

    private HookRun start(Hook hook, HookCall body) {
        return model.pool.start(
                hooks.name(hook),
                call.caller().logContext(),
                deadline,
                call.memory().isLarge(),
                now -> call.memory().run(() -> {
                    var trace = call.caller().trace().step(hook.method);
                    try {
                        body.run(now);
                    } catch (Throwable e) {
                        trace.failed(e);
                        model.metrics.caught(e);
                        landed.completeExceptionally(HookFailure.inside(now.hook(), e));
                    } finally {
                        trace.close();
                    }
                }));
    }

    private void decode(HookRun now) throws Exception {
        long start = System.nanoTime();
        understood = call.dialect().request(request);
        var left = understood.remaining();
        if (left.toNanos() < deadline.nanosLeft()) {
            deadline = Deadline.in(left, deadline.clock());
        }
        translated.complete(null);
        records = hooks.decode(understood, now::enters);
        call.memory().add(PIECE * records.pieces().values().size());
        decoded = Duration.ofNanos(System.nanoTime() - start);
        model.metrics.decode.record(decoded);
        if (records.isEmpty()) {
            encode(Predictions.none(), this::encoded, now);
            return;
        }
        call.caller().trace().queued();
        if (hooks.handler instanceof StreamingHandler<?, I, O, ?> streaming) {
            submit(streaming);
        } else {
            submission = model.batcher.submit(
                    records.pieces(),
                    new PartSink.None<>(deadline.nanos()),
                    call.caller(),
                    ended -> predicted(ended, this::encoded));
        }
    }

    private void submit(StreamingHandler<?, I, O, ?> streaming) {
        var pieces = records.pieces();
        if (pieces.values().size() > records.values().size()) {
            throw ErrorType.INTERNAL.because(
                    "%s returned several pieces, expected the record that stepFn predicts part by part"
                            .formatted(hooks.name(Hook.SPLIT)));
        }
        var type = call.streams()
                .flatMap(limits -> limits.isSocket()
                        ? Optional.of(streaming.streamedAs(request).orElse(request.accept()))
                        : streaming.streamedAs(request));
        if (type.isEmpty()) {
            var parts = new Parts<O>(pieces.values().size(), deadline, call.memory());
            Encoding<O> joined = (_, now) -> hooks.encodeParts(records, parts.ofRecords(), understood, now::enters);
            submission = model.batcher.submit(pieces, parts, call.caller(), ended -> predicted(ended, joined));
            return;
        }
        var answer = new StreamedAnswer<O>(
                (part, index) -> encodePart(streaming, part, index),
                type.get(),
                call,
                model.metrics.streams(),
                deadline,
                begunAt,
                landed::complete);
        submission = model.batcher.submit(pieces, answer, call.caller(), ended -> streamed(ended, answer));
        answer.comesFrom(submission);
    }

    private byte[] encodePart(StreamingHandler<?, I, O, ?> streaming, O part, int index) {
        var partFn = hooks.name(Hook.PART_FN);
        try {
            var data = streaming.partFn(part, index, request);
            if (data == null) {
                throw ErrorType.INTERNAL.because("%s returned null, expected the bytes of a part".formatted(partFn));
            }
            return data;
        } catch (Throwable e) {
            throw HookFailure.inside(partFn, e);
        }
    }

    /// Runs on the thread that has ended the request's records, mostly its worker's.
    private void predicted(Submission<I, O> ended, Encoding<O> encoding) {
        try {
            var predictions = ended.predictions();
            run.set(start(Hook.OUTPUT_FN, now -> encode(predictions, encoding, now)));
        } catch (Throwable e) {
            model.metrics.caught(e);
            landed.completeExceptionally(HookFailure.of(hooks.predicting(), e));
        }
    }

    /// The parts of a streamed answer have all been encoded, or there will be no more.
    private void streamed(Submission<I, O> ended, StreamedAnswer<O> answer) {
        try {
            answer.end(invocation(ended.predictions(), Duration.ZERO));
        } catch (Throwable e) {
            model.metrics.caught(e);
            var failure = HookFailure.of(hooks.predicting(), e);
            if (!answer.fail(failure)) {
                landed.completeExceptionally(failure);
            }
        }
    }

    private InvocationResponse encoded(Predictions<O> predictions, HookRun now) throws Exception {
        return hooks.encode(records, predictions.values(), understood, now::enters);
    }

    private void encode(Predictions<O> predictions, Encoding<O> encoding, HookRun now) throws Exception {
        long start = System.nanoTime();
        var response = call.dialect().response(encoding.of(predictions, now));
        var encoded = Duration.ofNanos(System.nanoTime() - start);
        model.metrics.encode.record(encoded);
        landed.complete(new ServedAnswer.Whole(response, invocation(predictions, encoded)));
    }

    private Invocation invocation(Predictions<O> predictions, Duration encoded) {
        return new Invocation(records.values().size(), decoded, predictions.queued(), predictions.predicted(), encoded);
    }

    /// A hook, with whatever it throws.
    private interface HookCall {
        void run(HookRun now) throws Exception;
    }

    /// What is made of the predictions of all records.
    private interface Encoding<O> {
        InvocationResponse of(Predictions<O> predictions, HookRun now) throws Exception;
    }
}
