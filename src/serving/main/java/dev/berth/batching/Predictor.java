package dev.berth.batching;

import dev.berth.hooks.ModelUnusableException;
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
