package dev.berth.serving;

import dev.berth.artifact.code.ThrownByHook;
import dev.berth.batching.Predictor;
import dev.berth.batching.WorkerLostException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.ModelUnusableException;
import java.util.ArrayList;
import java.util.List;

/// What a worker predicts with: the model that `modelFn` returned for it, and `predictFn`. Used by
/// one thread at a time.
final class HookPredictor<M, I, O> implements Predictor<I, O> {

  private final InferenceHandler<M, I, O> handler;
  private final M model;

  private HookPredictor(InferenceHandler<M, I, O> handler, M model) {
    this.handler = handler;
    this.model = model;
  }

  /// Loads the model, warms it up and asks it the first request on the calling thread.
  static <M, I, O> HookPredictor<M, I, O> open(
      Hooks<M, I, O> hooks, ModelContext context, FirstRequest first, int maxBatchSize)
      throws LoadException {
    var model = hooks.load(context);
    LoadException.during(
        "the first request",
        () -> {
          first.ask(new Rehearsal<>(hooks, model, maxBatchSize));
          return model;
        });
    return new HookPredictor<>(hooks.handler, model);
  }

  M model() {
    return model;
  }

  @Override
  public List<O> predict(List<I> records) throws Exception {
    try {
      return withClassesOf(
          handler,
          () -> {
            var predictions = handler.predictFn(records, model);
            // The hook's own list is read while the hook runs and never again.
            return predictions == null ? null : new ArrayList<>(predictions);
          });
    } catch (ModelUnusableException e) {
      throw new WorkerLostException(e.getMessage(), e);
    }
  }

  @Override
  public void close() throws Exception {
    if (model instanceof AutoCloseable closeable) {
      withClassesOf(
          handler,
          () -> {
            closeable.close();
            return model;
          });
    }
  }

  /// Libraries that look for services find those of the hooks. A thread keeps nothing of a model
  /// that is unloaded. What the hooks throw is harmless, as [ThrownByHook] says.
  static <T, E extends Exception> T withClassesOf(
      InferenceHandler<?, ?, ?> handler, Call<T, E> call) throws E {
    var thread = Thread.currentThread();
    var outer = thread.getContextClassLoader();
    thread.setContextClassLoader(handler.getClass().getClassLoader());
    try {
      return call.call();
    } catch (Throwable e) {
      if (ThrownByHook.ask(e) instanceof RuntimeException told) {
        throw told;
      }
      throw e;
    } finally {
      thread.setContextClassLoader(outer);
    }
  }

  interface Call<T, E extends Exception> {
    T call() throws E;
  }
}
