package dev.berth.serving.hooks;

import dev.berth.batching.Predictor;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.Metrics;
import java.util.ArrayList;
import java.util.List;

/// What a worker predicts with: the model that `modelFn` returned for it, and `predictFn`. Used by
/// one thread at a time.
public class HookPredictor<M, I, O> implements Predictor<I, O> {

    private final InferenceHandler<M, I, O> handler;
    final M model;
    private final Metrics metrics;

    /// @param metrics what hooks find as [Metrics#current]
    public HookPredictor(InferenceHandler<M, I, O> handler, M model, Metrics metrics) {
        this.handler = handler;
        this.model = model;
        this.metrics = metrics;
    }

    @Override
    public List<O> predict(List<I> records) throws Exception {
        return calling(() -> {
            var predictions = handler.predictFn(records, model);
            // The hook's own list is read while the hook runs and never again.
            return predictions == null ? null : new ArrayList<>(predictions);
        });
    }

    final <T> T calling(HookClasses.Call<T, Exception> call) throws Exception {
        return ScopedValue.where(Metrics.CURRENT, metrics).call(() -> HookClasses.call(handler, call));
    }

    @Override
    public void close() throws Exception {
        HookClasses.close(handler, model);
    }
}
