package dev.berth.serving.hooks;

import dev.berth.batching.Predictor;
import dev.berth.error.ServingException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.Metrics;
import dev.berth.hooks.ModelContext;
import dev.berth.serving.hooks.Hooks.Hook;
import java.lang.ScopedValue.CallableOp;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/// A model that does not serve yet: its hooks are called one after another on the calling thread,
/// and fail as they would for a caller. Used by one thread; [#hook] may be asked by any.
public final class Rehearsal<M, I, O> {

    /// What came of a request.
    ///
    /// @param records that `inputFn` made of it
    public record Answer<I>(List<I> records, InvocationResponse response) {}

    public final Hooks<M, I, O> hooks;
    public final M model;
    private final int maxBatchSize;
    private volatile String hook;

    public Rehearsal(Hooks<M, I, O> hooks, M model, int maxBatchSize) {
        this.hooks = hooks;
        this.model = model;
        this.maxBatchSize = maxBatchSize;
        this.hook = hooks.name(Hook.INPUT_FN);
    }

    /// Loads the model and warms it up.
    ///
    /// @param maxBatchSize the most pieces that `predictFn` gets at once
    /// @throws LoadException when a hook fails
    public static <M, I, O> Rehearsal<M, I, O> load(
            InferenceHandler<M, I, O> handler, ModelContext context, int maxBatchSize) throws LoadException {
        var hooks = new Hooks<>(handler, Metrics.current());
        return new Rehearsal<>(hooks, hooks.load(context), maxBatchSize);
    }

    /// What messages call the hook that runs, or ran last.
    public String hook() {
        return hook;
    }

    /// Answers a request.
    ///
    /// @throws ServingException as its caller would get it
    public Answer<I> ask(InvocationRequest request) {
        return call(() -> {
            var pieces = hooks.decode(request, this::enters);
            enters(hooks.predicting());
            var predictions = predictAll(pieces.values());
            return new Answer<>(pieces.records(), hooks.encode(pieces, predictions, false, request, this::enters));
        });
    }

    /// Predicts one batch.
    ///
    /// @throws ServingException as the callers of its records would get it
    public List<O> predict(List<I> records) {
        enters(hooks.predicting());
        return call(() -> predictBatch(records));
    }

    private void enters(String next) {
        hook = next;
    }

    private List<List<O>> predictAll(List<I> pieces) throws Exception {
        var predictions = new ArrayList<List<O>>(pieces.size());
        for (int from = 0; from < pieces.size(); from += Math.min(maxBatchSize, pieces.size() - from)) {
            predictBatch(pieces.subList(from, from + Math.min(maxBatchSize, pieces.size() - from)))
                    .forEach(prediction -> predictions.add(List.of(prediction)));
        }
        return predictions;
    }

    private List<O> predictBatch(List<I> records) throws Exception {
        return Predictor.checked(
                HookPredictor.of(hooks, model).predict(Collections.unmodifiableList(records)), records.size());
    }

    private <T> T call(CallableOp<T, Exception> call) {
        try {
            return hooks.call(call);
        } catch (Throwable e) {
            throw HookFailure.inside(hook, e);
        }
    }
}
