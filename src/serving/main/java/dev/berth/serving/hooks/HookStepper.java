package dev.berth.serving.hooks;

import dev.berth.batching.StepPredictor;
import dev.berth.hooks.PartStream;
import dev.berth.hooks.StreamingHandler;
import java.util.List;

/// What a worker predicts with step by step: the model that `modelFn` returned for it, `beginFn`
/// and `stepFn`. Used by one thread at a time.
public final class HookStepper<M, I, O, S> extends HookPredictor<M, I, O> implements StepPredictor<I, O, S> {

    private final StreamingHandler<M, I, O, S> handler;

    /// @param handler that of the hooks
    public HookStepper(Hooks<M, I, O> hooks, StreamingHandler<M, I, O, S> handler, M model) {
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
