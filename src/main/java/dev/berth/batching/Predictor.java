package dev.berth.batching;

import java.util.List;

/// One worker's loaded model. Used by one thread at a time: that which loads, the worker's, that
/// which unloads.
@SuppressWarnings(
    "try") // close() may throw InterruptedException; the worker takes it like any other.
public interface Predictor<I, O> extends AutoCloseable {

  /// Predicts one batch: as many predictions as there are records, in the same order, none of them
  /// null. Nobody changes the list after that, and what it throws is harmless to ask.
  ///
  /// The thread is interrupted when nobody waits for the batch any more, and only then.
  ///
  /// @throws WorkerLostException when no later call can succeed
  List<O> predict(List<I> records) throws Exception;

  /// Frees the model.
  @Override
  void close() throws Exception;
}
