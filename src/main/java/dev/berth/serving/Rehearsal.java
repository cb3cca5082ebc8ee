package dev.berth.serving;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;

/// A model that does not serve yet: its hooks are called one after another on the calling thread,
/// and fail as they would for a caller. Used by one thread; [#hook] may be asked by any.
public final class Rehearsal<M, I, O> {

  /// What came of a request.
  ///
  /// @param records that `inputFn` made of it
  public record Answer<I>(List<I> records, InvocationResponse response) {}

  private final InferenceHandler<M, I, O> handler;
  private final HookNames names;
  private final M model;
  private final int maxBatchSize;
  private volatile String hook;

  Rehearsal(InferenceHandler<M, I, O> handler, HookNames names, M model, int maxBatchSize) {
    this.handler = handler;
    this.names = names;
    this.model = model;
    this.maxBatchSize = maxBatchSize;
    this.hook = names.inputFn();
  }

  /// Loads the model and warms it up.
  ///
  /// @param maxBatchSize the most pieces that `predictFn` gets at once
  /// @throws LoadException when a hook fails
  public static <M, I, O> Rehearsal<M, I, O> load(
      InferenceHandler<M, I, O> handler, ModelContext context, int maxBatchSize)
      throws LoadException {
    var names = HookNames.of(handler);
    return new Rehearsal<>(
        handler, names, HookPredictor.load(handler, names, context), maxBatchSize);
  }

  public InferenceHandler<M, I, O> handler() {
    return handler;
  }

  public M model() {
    return model;
  }

  /// What messages call the hook that runs, or ran last.
  public String hook() {
    return hook;
  }

  /// The content types that the hooks read; empty: any.
  ///
  /// @throws LoadException when they do not say
  public List<MediaType> requestTypes() throws LoadException {
    return LoadedModel.types(names.requestTypes(), handler::requestTypes);
  }

  /// The content types that the hooks write; empty: any.
  ///
  /// @throws LoadException when they do not say
  public List<MediaType> responseTypes() throws LoadException {
    return LoadedModel.types(names.responseTypes(), handler::responseTypes);
  }

  /// Answers a request.
  ///
  /// @throws ServingException as its caller would get it
  public Answer<I> ask(InvocationRequest request) {
    return call(
        () -> {
          hook = names.inputFn();
          var records = require(handler.inputFn(request), "a list of records");
          hook = names.split();
          var split = Split.of(records, handler, names);
          hook = names.length();
          split.measured(handler, names);
          hook = names.predictFn();
          var predictions = predictAll(split.pieces());
          hook = names.join();
          var joined = split.join(predictions, handler, names);
          hook = names.outputFn();
          return new Answer<>(records, require(handler.outputFn(joined, request), "a response"));
        });
  }

  /// Predicts one batch.
  ///
  /// @throws ServingException as the callers of its records would get it
  public List<O> predict(List<I> records) {
    hook = names.predictFn();
    return call(() -> predictBatch(records));
  }

  private List<O> predictAll(List<I> pieces) throws Exception {
    var predictions = new ArrayList<O>(pieces.size());
    for (int from = 0; from < pieces.size(); from += Math.min(maxBatchSize, pieces.size() - from)) {
      predictions.addAll(
          predictBatch(pieces.subList(from, from + Math.min(maxBatchSize, pieces.size() - from))));
    }
    return Collections.unmodifiableList(predictions);
  }

  private List<O> predictBatch(List<I> records) throws Exception {
    var predictions =
        require(
            handler.predictFn(Collections.unmodifiableList(records), model),
            "a list of predictions");
    boolean missing = predictions.stream().anyMatch(Objects::isNull);
    if (predictions.size() != records.size() || missing) {
      throw new IllegalStateException(
          "found %d predictions%s, expected %d, one for each record"
              .formatted(predictions.size(), missing ? ", some of them null" : "", records.size()));
    }
    return predictions;
  }

  private <T> T call(HookPredictor.Call<T, Exception> hooks) {
    try {
      return HookPredictor.withClassesOf(handler, hooks);
    } catch (Throwable e) {
      throw HookFailure.inside(hook, e);
    }
  }

  private <T> T require(T result, String expected) {
    if (result == null) {
      throw new ServingException(
          ErrorType.INTERNAL, "%s returned null, expected %s".formatted(hook, expected));
    }
    return result;
  }
}
