package dev.berth.serving;

import dev.berth.batching.StepPredictor;
import dev.berth.batching.WorkerLostException;
import dev.berth.hooks.ModelUnusableException;
import dev.berth.hooks.StreamingHandler;
import java.util.List;

/// What a worker predicts with step by step: the model that `modelFn` returned for it, `beginFn`
/// and `stepFn`. Used by one thread at a time.
final class HookStepper<M, I, O, S> implements StepPredictor<I, O, HookSequence<S, O>> {

  private final StreamingHandler<M, I, O, S> handler;
  private final HookPredictor<M, I, O> opened;

  HookStepper(StreamingHandler<M, I, O, S> handler, HookPredictor<M, I, O> opened) {
    this.handler = handler;
    this.opened = opened;
  }

  @Override
  public HookSequence<S, O> begin(I record) throws Exception {
    return new HookSequence<>(handler, calling(() -> handler.beginFn(record, opened.model())));
  }

  @Override
  public void step(List<HookSequence<S, O>> sequences) throws Exception {
    calling(
        () -> {
          handler.stepFn(List.copyOf(sequences), opened.model());
          return sequences;
        });
  }

  @Override
  public List<O> predict(List<I> records) throws Exception {
    return opened.predict(records);
  }

  @Override
  public void close() throws Exception {
    opened.close();
  }

  private <T> T calling(HookPredictor.Call<T, Exception> call) throws Exception {
    try {
      return HookPredictor.withClassesOf(handler, call);
    } catch (ModelUnusableException e) {
      throw new WorkerLostException(e.getMessage(), e);
    }
  }
}
