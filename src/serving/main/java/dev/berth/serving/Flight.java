package dev.berth.serving;

import dev.berth.batching.PartSink;
import dev.berth.batching.Pieces;
import dev.berth.batching.Submission;
import dev.berth.content.InlineHooks;
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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/// One request on its way. Its hooks run on threads that all models share and its records on the workers: each
/// step hands over to the next one, and the request's own thread waits for the end, or runs [short hooks][InlineHooks]
/// itself. It keeps what is predicted for an answer that is whole.
final class Flight<I, O> implements PartSink<O> {

    /// What a record, or a piece of one, takes here and in the queue, in bytes, and each further part that is
    /// predicted for it, beside what the hook made of that.
    private static final long PIECE = 256;

    final LoadedModel<?, I, O> model;
    private final Hooks<?, I, O> hooks;

    /// Nothing where the hooks predict at once.
    private final Optional<StreamingHandler<?, I, O, ?>> streaming;

    private final InvocationRequest request;
    final Call call;

    /// As the clock counts.
    final long begunAt;
    private CompletableFuture<ServedAnswer> answer = CompletableFuture.completedFuture(null);

    /// A request in other words may leave less time.
    private volatile Deadline deadline;

    /// The hook that runs or ran last on another thread; null: none has.
    private volatile HookPool.Run<?> run;

    /// The place of the records in the queue; null before they are there.
    private volatile Submission<I, O> submission;

    /// Completed when the deadline will not change any more.
    private final CompletableFuture<Void> translated = new CompletableFuture<>();

    // What `inputFn` has made of the request: written before the next step begins.

    /// In the words of the hooks.
    private InvocationRequest understood;

    private Pieces<I> pieces;
    private Duration decodeTime;

    /// What is predicted for each piece. Several workers may have some of them: guarded by its monitor.
    private final List<List<O>> predictions = new ArrayList<>();

    Flight(LoadedModel<?, I, O> model, InvocationRequest request, Call call) {
        this.model = model;
        this.hooks = model.hooks;
        this.streaming =
                hooks.handler instanceof StreamingHandler<?, I, O, ?> handler ? Optional.of(handler) : Optional.empty();
        this.request = request;
        this.call = call;
        this.deadline = call.deadline();
        this.begunAt = now();
    }

    long now() {
        return deadline.clock().getAsLong();
    }

    /// The whole way.
    ///
    /// @throws ServingException for every way in which this can fail
    ServedAnswer answer() {
        if (hooks.handler instanceof InlineHooks<?, I, O> quick
                && call.dialect().equals(Dialect.NONE)
                && quick.isInputShort(request)) {
            return answerInline(quick);
        }
        answer = run(Hook.INPUT_FN, this::decode)
                .thenCompose(streamedAs -> streamedAs.isPresent()
                        ? stream(streamedAs.get())
                        : predict().thenCompose(_ -> run(Hook.OUTPUT_FN, this::encode)));
        if (!call.dialect().equals(Dialect.NONE)) {
            var _ = await(CompletableFuture.anyOf(translated, answer));
        }
        return await(answer);
    }

    /// The whole way, on which short hooks run on this thread.
    private ServedAnswer answerInline(InlineHooks<?, I, O> quick) {
        try {
            runInline(Hook.INPUT_FN, this::decode);
            await(predict());
        } catch (OutOfMemoryError e) {
            abandon();
            model.metrics.caught(e);
            throw HookFailure.inside(hooks.predicting(), e);
        }
        return quick.isOutputShort(predictions.stream().flatMap(List::stream).toList())
                ? runInline(Hook.OUTPUT_FN, this::encode)
                : await(run(Hook.OUTPUT_FN, this::encode));
    }

    /// Completed when no hook and no predictor works for the request any more. One that was left
    /// behind may, after the answer.
    CompletableFuture<Void> left() {
        return answer.handle((_, _) -> submission)
                .thenCompose(queued -> queued == null ? CompletableFuture.completedFuture(null) : queued.released());
    }

    private <T> T await(CompletableFuture<T> step) {
        try {
            if (!step.isDone()) {
                var thread = Thread.currentThread();
                var _ = step.whenComplete((_, _) -> LockSupport.unpark(thread));
            }
            while (!step.isDone()) {
                model.waiters.park(deadline.nanosLeft(), step::isDone);
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                if (!step.isDone()) {
                    look();
                }
            }
            return step.get();
        } catch (InterruptedException e) {
            abandon();
            if (run != null) {
                var _ = run.cancel();
            }
            throw HookFailure.of(hooks.predicting(), e);
        } catch (ExecutionException e) {
            // What a predictor threw is counted where it ran.
            if (submission == null || !submission.predicted().isCompletedExceptionally()) {
                model.metrics.caught(e.getCause());
            }
            throw HookFailure.of(hooks.predicting(), e);
        }
    }

    private void look() {
        ask();
        if (deadline.isOver() && run != null && !run.result().isDone()) {
            throw run.cancel();
        }
    }

    /// Asks why its records have not ended yet.
    void ask() {
        if (submission != null) {
            model.batcher.ask(submission);
        }
    }

    /// Says that its caller has gone.
    void abandon() {
        if (submission != null) {
            model.batcher.abandon(submission);
        }
    }

    private <T> CompletableFuture<T> run(Hook hook, HookPool.Body<T> body) {
        HookPool.Run<T> next = model.pool.start(
                hooks.name(hook),
                deadline,
                call.caller().logContext(),
                call.memory().isLarge(),
                counted(hook, body));
        run = next;
        return next.result();
    }

    private <T> T runInline(Hook hook, HookPool.Body<T> body) {
        return model.pool
                .runInline(hooks.name(hook), deadline, counted(hook, body))
                .orElseGet(() -> await(run(hook, body)));
    }

    /// In the request's memory and trace.
    private <T> HookPool.Body<T> counted(Hook hook, HookPool.Body<T> body) {
        return entered -> call.memory().call(() -> {
            var trace = call.caller().trace().step(hook.method);
            try {
                return body.call(entered);
            } catch (Throwable e) {
                trace.failed(e);
                throw e;
            } finally {
                trace.close();
            }
        });
    }

    /// @return the type of an answer that leaves part by part; nothing: it is whole
    private Optional<MediaType> decode(Consumer<String> entered) throws Exception {
        long start = System.nanoTime();
        understood = call.dialect().request(request);
        var left = understood.remaining();
        if (left.toNanos() < deadline.nanosLeft()) {
            deadline = Deadline.in(left, deadline.clock());
        }
        translated.complete(null);
        pieces = hooks.decode(understood, entered);
        int count = pieces.values().size();
        call.memory().add(PIECE * count);
        if (streaming.isPresent() && count > pieces.records().size()) {
            throw ErrorType.INTERNAL.because(
                    "%s returned several pieces, expected the record that stepFn predicts part by part"
                            .formatted(hooks.name(Hook.SPLIT)));
        }
        for (int i = 0; i < count; i++) {
            predictions.add(new ArrayList<>(1));
        }
        var type = count == 0 ? Optional.<MediaType>empty() : streaming.flatMap(this::streamedAs);
        decodeTime = Duration.ofNanos(System.nanoTime() - start);
        model.metrics.decode.record(decodeTime);
        return type;
    }

    @Override
    public void take(int index, O part) {
        synchronized (predictions) {
            var before = predictions.get(index);
            if (!before.isEmpty()) {
                call.memory().addAtOnce(PIECE);
            }
            before.add(part);
        }
    }

    @Override
    public long deadlineNanos() {
        return deadline.nanos();
    }

    private Optional<MediaType> streamedAs(StreamingHandler<?, I, O, ?> streaming) {
        return call.streams()
                .flatMap(limits -> limits.isSocket()
                        ? Optional.of(streaming.streamedAs(request).orElse(request.accept()))
                        : streaming.streamedAs(request));
    }

    private CompletableFuture<Void> predict() {
        return pieces.records().isEmpty() ? CompletableFuture.completedFuture(null) : submit(this);
    }

    /// Completed when there is a part, or there will be none.
    private CompletableFuture<ServedAnswer> stream(MediaType type) {
        var streamed = new ServedAnswer.Streamed<>(this, type);
        var _ = submit(streamed).whenComplete((_, failure) -> {
            if (failure == null) {
                streamed.end();
            } else {
                streamed.fail(HookFailure.inside(hooks.predicting(), failure));
            }
        });
        return streamed.begun;
    }

    /// Has the records predicted. The thread that ends them, mostly a worker's, says so.
    private CompletableFuture<Void> submit(PartSink<O> sink) {
        call.caller().trace().queued();
        submission = model.batcher.submit(pieces, sink, call.caller());
        return submission.predicted();
    }

    byte[] encodePart(O part, int index) {
        var partFn = hooks.name(Hook.PART_FN);
        try {
            var data = streaming.orElseThrow().partFn(part, index, request);
            return hooks.require(data, Hook.PART_FN, "the bytes of a part");
        } catch (Throwable e) {
            model.metrics.caught(e);
            throw HookFailure.inside(partFn, e);
        }
    }

    private ServedAnswer encode(Consumer<String> entered) throws Exception {
        long start = System.nanoTime();
        var response = hooks.encode(pieces, predictions, streaming.isPresent(), understood, entered);
        var answered = call.dialect().response(response);
        var took = Duration.ofNanos(System.nanoTime() - start);
        model.metrics.encode.record(took);
        return new ServedAnswer.Whole(answered, invocation(took));
    }

    Invocation invocation(Duration encoded) {
        var predicted = Optional.ofNullable(submission);
        return new Invocation(
                Arrays.stream(pieces.sizes().records()).sum(),
                decodeTime,
                predicted.map(Submission::queueTime).orElse(Duration.ZERO),
                predicted.map(Submission::predictTime).orElse(Duration.ZERO),
                encoded);
    }
}
