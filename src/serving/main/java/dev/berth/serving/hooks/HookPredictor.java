package dev.berth.serving.hooks;

import dev.berth.batching.Predictor;
import dev.berth.hooks.PartStream;
import dev.berth.hooks.StreamingHandler;
import java.util.ArrayList;
import java.util.List;

/// What a worker predicts with: the model that `modelFn` returned for it, and `predictFn`, or `beginFn`
/// and `stepFn`. Used by one thread at a time.
public class HookPredictor<M, I, O> implements Predictor<I, O> {

    final Hooks<M, I, O> hooks;
    final M model;

    private HookPredictor(Hooks<M, I, O> hooks, M model) {
        this.hooks = hooks;
        this.model = model;
    }

    public static <M, I, O> Predictor<I, O> of(Hooks<M, I, O> hooks, M model) {
        return hooks.handler instanceof StreamingHandler<M, I, O, ?> streaming
                ? new Stepwise<>(hooks, streaming, model)
                : new HookPredictor<>(hooks, model);
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

        private Stepwise(Hooks<M, I, O> hooks, StreamingHandler<M, I, O, S> handler, M model) {
            super(hooks, model);
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
