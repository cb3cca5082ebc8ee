package dev.berth.serving.hooks;

import dev.berth.batching.Predictor;
import java.util.ArrayList;
import java.util.List;

/// What a worker predicts with: the model that `modelFn` returned for it, and `predictFn`. Used by
/// one thread at a time.
public class HookPredictor<M, I, O> implements Predictor<I, O> {

    final Hooks<M, I, O> hooks;
    final M model;

    public HookPredictor(Hooks<M, I, O> hooks, M model) {
        this.hooks = hooks;
        this.model = model;
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
}
