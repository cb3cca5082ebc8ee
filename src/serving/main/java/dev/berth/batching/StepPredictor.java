package dev.berth.batching;

import java.util.List;

/// Predicts records in steps, each of which may give a part of every record's prediction. Records
/// join between two steps, and leave.
///
/// @param <Q> a record's prediction between two steps
public interface StepPredictor<I, O, Q extends Sequence<O>> extends Predictor<I, O> {

    /// Begins a record's prediction.
    ///
    /// @throws WorkerLostException when no later call can succeed
    Q begin(I record) throws Exception;

    /// Makes one step for all of them. The thread is interrupted when nobody waits for any of them,
    /// or when the step has kept others waiting for too long.
    ///
    /// @throws WorkerLostException when no later call can succeed
    void step(List<Q> sequences) throws Exception;
}
