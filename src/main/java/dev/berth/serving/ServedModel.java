package dev.berth.serving;

import dev.berth.artifact.code.HookCode;
import dev.berth.batching.BatchLimits;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.metrics.ServingMetrics;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A model under its name, from before it is loaded until after it is gone. Every method may be called by any thread;
/// only [#load] and [#close] take long.
public final class ServedModel {

  /// What the model is doing. It only ever moves forward: loading, ready, stopped, or from any of those to stopped.
  private sealed interface State {
    record Loading() implements State {}

    record Ready(LoadedModel<?, ?, ?> model) implements State {}

    record Stopped(String why) implements State {}
  }

  private static final State LOADING = new State.Loading();

  /// How long hooks may still take once their records have been refused.
  private static final Duration LAST_HOOKS = Duration.ofSeconds(1);

  private static final Logger log = LoggerFactory.getLogger(ServedModel.class);

  private final String name;
  private final HookPermits permits;
  private final PayloadMemory memory;
  private final InFlight inFlight = new InFlight();
  private final ServingMetrics metrics;
  private final AtomicReference<State> state = new AtomicReference<>(LOADING);

  public ServedModel(String name, HookPermits permits, PayloadMemory memory, ServingMetrics metrics) {
    this.name = name;
    this.permits = permits;
    this.memory = memory;
    this.metrics = metrics;
  }

  /// Loads the model on every worker, warms it up and starts to serve. Call once.
  ///
  /// @param handler closed with the model
  /// @param accelerators one for each worker
  /// @throws Exception whatever a hook threw; the model is stopped then
  public void load(
      Path directory, InferenceHandler<?, ?, ?> handler, List<Accelerator> accelerators, BatchLimits limits)
      throws Exception {
    long start = System.nanoTime();
    try {
      var loaded = LoadedModel.load(name, directory, handler, accelerators, limits, permits, memory, metrics);
      metrics.modelLoaded(Duration.ofNanos(System.nanoTime() - start));
      if (!state.compareAndSet(LOADING, new State.Ready(loaded))) {
        loaded.stopWorkers();
        throw new IllegalStateException("the server was stopped while the model loaded");
      }
    } catch (Throwable e) {
      state.set(new State.Stopped("the model could not be loaded"));
      HookCode.close(handler);
      throw e;
    }
  }

  /// Stays without a model: requests are refused with `why`.
  public void refuse(String why) {
    state.set(new State.Stopped(why));
  }

  public String name() {
    return name;
  }

  /// Whether it can serve: loaded, and a worker is left.
  public boolean ready() {
    return state.get() instanceof State.Ready(var model) && model.liveWorkers() > 0;
  }

  /// The workers that are left.
  public int workers() {
    return loaded().liveWorkers();
  }

  /// The content types that the hooks read; empty: any.
  public List<MediaType> requestTypes() {
    return loaded().requestTypes();
  }

  /// The content types that the hooks write; empty: any.
  public List<MediaType> responseTypes() {
    return loaded().responseTypes();
  }

  /// Answers one request on the calling thread, which should be a virtual one: it waits for a worker.
  ///
  /// @param length of the body in bytes, where the caller declared it
  /// @param deadlineNanos when the caller's time is over, as [System#nanoTime()] counts
  /// @param abandoned whether the caller has gone away; asked before the model is
  /// @throws ServingException for every way in which this can fail
  public Invocation invoke(
      InvocationRequest request, OptionalLong length, long deadlineNanos, BooleanSupplier abandoned) {
    inFlight.enter();
    try {
      return loaded().invoke(request, length, deadlineNanos, abandoned);
    } finally {
      inFlight.leave();
    }
  }

  /// Refuses new requests, lets running ones finish within `drain`, and frees the model.
  public void close(Duration drain) throws Exception {
    if (state.getAndSet(new State.Stopped("the server is stopping")) instanceof State.Ready(var model)) {
      inFlight.awaitNone(drain);
      boolean stopped = model.stopWorkers();
      if (stopped && inFlight.awaitNone(LAST_HOOKS) && model.awaitHooks(LAST_HOOKS)) {
        model.closeHooks();
      } else {
        log.warn("{}: a hook does not end; what it uses is left open", name);
      }
    }
  }

  private LoadedModel<?, ?, ?> loaded() {
    return switch (state.get()) {
      case State.Ready(var model) -> model;
      case State.Loading() -> throw new ServingException(ErrorType.NOT_READY, "the model is loading");
      case State.Stopped(var why) -> throw new ServingException(ErrorType.NOT_READY, why);
    };
  }
}
