package dev.berth.batching;

/// Loads the model of a worker.
public interface PredictorFactory<I, O> {

    /// Loads and warms up, on the calling thread. One opens at a time, because an engine's first
    /// predictions may not be safe to run in parallel.
    ///
    /// @param worker the worker's number, from 0
    Predictor<I, O> open(int worker) throws Exception;
}
