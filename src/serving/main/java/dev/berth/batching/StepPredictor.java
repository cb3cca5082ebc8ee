package dev.berth.batching;

import dev.berth.hooks.ModelUnusableException;
import dev.berth.hooks.PartStream;
import java.util.List;

/// Predicts records in steps, each of which may give a part of every record's prediction. Records
/// join between two steps, and leave.
///
/// @param <S> a record's state between two steps
public interface StepPredictor<I, O, S> extends Predictor<I, O> {

    /// Begins a record's prediction.
    ///
    /// @throws ModelUnusableException when no later call can succeed
    S begin(I record) throws Exception;

    /// Makes one step for all of them. The thread is interrupted when nobody waits for any of them,
    /// or when the step has kept others waiting for too long.
    ///
    /// @throws ModelUnusableException when no later call can succeed
    void step(List<PartStream<S, O>> streams) throws Exception;

    /// Frees a record's state. Runs once, while no step does.
    void end(S state) throws Exception;
}
