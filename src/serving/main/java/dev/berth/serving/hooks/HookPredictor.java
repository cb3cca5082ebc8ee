package dev.berth.serving.hooks;

import dev.berth.batching.Predictor;
import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.PartStream;
import dev.berth.hooks.StreamingHandler;
import dev.berth.serving.hooks.Hooks.Hook;
import java.lang.ScopedValue.CallableOp;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/// The model that `modelFn` returned for a worker, and the hooks that predict with it: `predictFn`, or
/// `beginFn` and `stepFn`. Used by one thread at a time.
///
/// Before it serves it can be asked: its hooks are called one after another on the calling thread, and
/// fail as they would for a caller.
public class HookPredictor<M, I, O> implements Predictor<I, O> {

    /// What came of a request.
    ///
    /// @param records that `inputFn` made of it
    public record Answer<I>(List<I> records, InvocationResponse response) {}

    public final Hooks<M, I, O> hooks;
    public final M model;

    private final int maxBatchSize;
    private volatile String hook;

    private HookPredictor(Hooks<M, I, O> hooks, M model, int maxBatchSize) {
        this.hooks = hooks;
        this.model = model;
        this.maxBatchSize = maxBatchSize;
        this.hook = hooks.name(Hook.INPUT_FN);
    }

    /// Loads the model and warms it up.
    ///
    /// @throws LoadException when a hook fails
    public static <M, I, O> HookPredictor<M, I, O> load(Hooks<M, I, O> hooks, ModelContext context)
            throws LoadException {
        var model = hooks.load(context);
        return hooks.handler instanceof StreamingHandler<M, I, O, ?> streaming
                ? new Stepwise<>(hooks, streaming, model, context.maxBatchSize())
                : new HookPredictor<>(hooks, model, context.maxBatchSize());
    }

    /// What messages call the hook that runs, or ran last. Any thread may ask.
    public String hook() {
        return hook;
    }

    /// Answers a request.
    ///
    /// @throws ServingException as its caller would get it
    public Answer<I> ask(InvocationRequest request) {
        return asked(() -> {
            var pieces = hooks.decode(request, this::enters);
            enters(hooks.predicting());
            var predictions = predictAll(pieces.values());
            return new Answer<>(pieces.records(), hooks.encode(pieces, predictions, false, request, this::enters));
        });
    }

    /// Predicts one batch.
    ///
    /// @throws ServingException as the callers of its records would get it
    public List<O> ask(List<I> records) {
        enters(hooks.predicting());
        return asked(() -> predictBatch(records));
    }

    private void enters(String next) {
        hook = next;
    }

    private List<List<O>> predictAll(List<I> pieces) throws Exception {
        var predictions = new ArrayList<List<O>>(pieces.size());
        for (int from = 0, to = 0; from < pieces.size(); from = to) {
            long size = 0;
            do {
                size += hooks.handler.count(pieces.get(to++));
            } while (to < pieces.size() && size + hooks.handler.count(pieces.get(to)) <= maxBatchSize);
            predictBatch(pieces.subList(from, to)).forEach(prediction -> predictions.add(List.of(prediction)));
        }
        return predictions;
    }

    private List<O> predictBatch(List<I> records) throws Exception {
        return Predictor.checked(predict(Collections.unmodifiableList(records)), records.size());
    }

    private <T> T asked(CallableOp<T, Exception> call) {
        try {
            return hooks.call(call);
        } catch (Throwable e) {
            throw HookFailure.inside(hook, e);
        }
    }

    @Override
    public List<O> predict(List<I> records) throws Exception {
        return hooks.call(() -> {
            var predictions = hooks.handler.predictFn(records, model);
            // The hook's own list is read while the hook runs and never again.
            return predictions == null ? null : new ArrayList<>(predictions);
        });
    }

    @Override
    public void close() throws Exception {
        hooks.close(model);
    }

    private static final class Stepwise<M, I, O, S> extends HookPredictor<M, I, O> implements InSteps<I, O, S> {

        private final StreamingHandler<M, I, O, S> handler;

        private Stepwise(Hooks<M, I, O> hooks, StreamingHandler<M, I, O, S> handler, M model, int maxBatchSize) {
            super(hooks, model, maxBatchSize);
            this.handler = handler;
        }

        @Override
        public S begin(I record) throws Exception {
            return hooks.call(() -> handler.beginFn(record, model));
        }

        @Override
        public void step(List<PartStream<S, O>> streams) throws Exception {
            hooks.call(() -> {
                handler.stepFn(streams, model);
                return streams;
            });
        }

        @Override
        public void end(S state) throws Exception {
            hooks.close(state);
        }
    }
}
