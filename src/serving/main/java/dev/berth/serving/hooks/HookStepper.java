package dev.berth.serving.hooks;

import dev.berth.batching.StepPredictor;
import dev.berth.hooks.Metrics;
import dev.berth.hooks.StreamingHandler;
import java.util.List;

/// What a worker predicts with step by step: the model that `modelFn` returned for it, `beginFn`
/// and `stepFn`. Used by one thread at a time.
public final class HookStepper<M, I, O, S> extends HookPredictor<M, I, O>
        implements StepPredictor<I, O, HookSequence<S, O>> {

    private final StreamingHandler<M, I, O, S> handler;

    public HookStepper(StreamingHandler<M, I, O, S> handler, M model, Metrics metrics) {
        super(handler, model, metrics);
        this.handler = handler;
    }

    @Override
    public HookSequence<S, O> begin(I record) throws Exception {
        return new HookSequence<>(handler, calling(() -> handler.beginFn(record, model)));
    }

    @Override
    public void step(List<HookSequence<S, O>> sequences) throws Exception {
        calling(() -> {
            handler.stepFn(List.copyOf(sequences), model);
            return sequences;
        });
    }
}
