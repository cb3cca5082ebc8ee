package dev.berth.serving;

import dev.berth.batching.Predictor;
import dev.berth.batching.WorkerLostException;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.ModelUnusableException;
import java.util.List;

/// What a worker predicts with: the model that `modelFn` returned to it, and `predictFn`. Used on the worker's thread only.
final class HookPredictor<M, I, O> implements Predictor<I, O> {

  private final InferenceHandler<M, I, O> handler;
  private final M model;

  private HookPredictor(InferenceHandler<M, I, O> handler, M model) {
    this.handler = handler;
    this.model = model;
  }

  /// Loads the model and warms it up, on the worker's thread, which ends with it.
  static <M, I, O> HookPredictor<M, I, O> open(
      InferenceHandler<M, I, O> handler, HookNames names, ModelContext context) throws LoadException {
    Thread.currentThread().setContextClassLoader(handler.getClass().getClassLoader());
    var model = LoadException.during(names.modelFn(), () -> handler.modelFn(context));
    // Not before: the JVM compiles much while models load, and the start would wait for it.
    if (context.accelerator() instanceof Accelerator.Cpu) {
      ThreadPriority.lower();
    }
    LoadException.during(names.warmUpFn(), () -> {
      handler.warmUpFn(model);
      return model;
    });
    return new HookPredictor<>(handler, model);
  }

  @Override
  public List<O> predict(List<I> records) throws Exception {
    try {
      return handler.predictFn(records, model);
    } catch (ModelUnusableException e) {
      throw new WorkerLostException(e.getMessage(), e);
    }
  }

  @Override
  public void close() throws Exception {
    if (model instanceof AutoCloseable closeable) {
      closeable.close();
    }
  }
}
