package dev.berth.serving.hooks;

import dev.berth.batching.StepPredictor;
import dev.berth.hooks.Metrics;
import dev.berth.hooks.PartStream;
import dev.berth.hooks.StreamingHandler;
import java.util.List;

/// What a worker predicts with step by step: the model that `modelFn` returned for it, `beginFn`
/// and `stepFn`. Used by one thread at a time.
public final class HookStepper<M, I, O, S> extends HookPredictor<M, I, O> implements StepPredictor<I, O, S> {

    private final StreamingHandler<M, I, O, S> handler;

    public HookStepper(StreamingHandler<M, I, O, S> handler, M model, Metrics metrics) {
        super(handler, model, metrics);
        this.handler = handler;
    }

    @Override
    public S begin(I record) throws Exception {
        return calling(() -> handler.beginFn(record, model));
    }

    @Override
    public void step(List<PartStream<S, O>> streams) throws Exception {
        calling(() -> {
            handler.stepFn(streams, model);
            return streams;
        });
    }

    @Override
    public void end(S state) throws Exception {
        HookClasses.close(handler, state);
    }
}
