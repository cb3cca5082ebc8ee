package dev.berth.batching;

import dev.berth.hooks.ModelUnusableException;
import dev.berth.hooks.PartStream;
import java.util.List;

/// One worker's loaded model. Used by one thread at a time: that which loads, the worker's, that
/// which unloads.
@SuppressWarnings("try") // close() may throw InterruptedException; the worker takes it like any other.
public interface Predictor<I, O> extends AutoCloseable {

    /// Predicts one batch: as many predictions as there are records, in the same order, none of them
    /// null. Nobody changes the list after that, and what it throws is harmless to ask.
    ///
    /// The thread is interrupted when no caller waits for the batch, and only then.
    ///
    /// @throws ModelUnusableException when no later call can succeed
    List<O> predict(List<I> records) throws Exception;

    @Override
    void close() throws Exception;

    /// Loads the model of a worker.
    interface Factory<I, O> {

        /// Loads and warms up, on the calling thread. One opens at a time, because an engine's first
        /// predictions may not be safe to run in parallel.
        ///
        /// @param worker the worker's number, from 0
        Predictor<I, O> open(int worker) throws Exception;
    }

    /// Predicts records in steps, each of which may give a part of every record's prediction. Records
    /// join between two steps, and leave.
    ///
    /// @param <S> a record's state between two steps
    interface InSteps<I, O, S> extends Predictor<I, O> {

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

    /// What was predicted, where it is one prediction for each record.
    ///
    /// @throws IllegalStateException where it is not
    static <O> List<O> checked(List<O> values, int expected) {
        if (values == null) {
            throw new IllegalStateException(
                    "found null, expected a list of %d predictions, one for each record".formatted(expected));
        }
        if (values.size() != expected) {
            throw new IllegalStateException(
                    "found %d predictions, expected %d, one for each record".formatted(values.size(), expected));
        }
        int missing = values.indexOf(null);
        if (missing >= 0) {
            throw new IllegalStateException(
                    "found null as prediction %d of %d, expected one for each record".formatted(missing + 1, expected));
        }
        return values;
    }
}
