package dev.berth.serving.hooks;

import dev.berth.artifact.code.ThrownByHook;
import dev.berth.batching.Predictor;
import dev.berth.batching.WorkerLostException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.ModelUnusableException;
import dev.berth.hooks.StreamingHandler;
import java.util.ArrayList;
import java.util.List;

/// What a worker predicts with: the model that `modelFn` returned for it, and `predictFn`. Used by
/// one thread at a time.
public sealed class HookPredictor<M, I, O> implements Predictor<I, O> permits HookStepper {

  private final InferenceHandler<M, I, O> handler;
  final M model;

  HookPredictor(InferenceHandler<M, I, O> handler, M model) {
    this.handler = handler;
    this.model = model;
  }

  /// Loads the model, warms it up and asks it the first request on the calling thread.
  public static <M, I, O> Predictor<I, O> open(
      Hooks<M, I, O> hooks, ModelContext context, FirstRequest first, int maxBatchSize)
      throws LoadException {
    var model = hooks.load(context);
    LoadException.during(
        "the first request",
        () -> {
          first.ask(new Rehearsal<>(hooks, model, maxBatchSize));
          return model;
        });
    return hooks.handler instanceof StreamingHandler<M, I, O, ?> streaming
        ? new HookStepper<>(streaming, model)
        : new HookPredictor<>(hooks.handler, model);
  }

  @Override
  public List<O> predict(List<I> records) throws Exception {
    return calling(
        () -> {
          var predictions = handler.predictFn(records, model);
          // The hook's own list is read while the hook runs and never again.
          return predictions == null ? null : new ArrayList<>(predictions);
        });
  }

  /// Calls a hook after which the worker may be lost.
  final <T> T calling(Call<T, Exception> call) throws Exception {
    try {
      return withClassesOf(handler, call);
    } catch (ModelUnusableException e) {
      throw new WorkerLostException(e.getMessage(), e);
    }
  }

  @Override
  public void close() throws Exception {
    close(handler, model);
  }

  /// Closes what hooks have made, if it wants to be.
  static void close(InferenceHandler<?, ?, ?> handler, Object made) throws Exception {
    if (made instanceof AutoCloseable closeable) {
      withClassesOf(
          handler,
          () -> {
            closeable.close();
            return made;
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
