package dev.berth.serving;

import dev.berth.artifact.code.HookCode;
import dev.berth.batching.BatchLimits;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.Signature;
import dev.berth.memory.RequestMemory;
import dev.berth.metrics.ModelMetrics;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.hooks.FirstRequest;
import dev.berth.serving.hooks.HookFailure;
import dev.berth.serving.hooks.HookLimits;
import dev.berth.serving.hooks.InFlight;
import dev.berth.serving.sessions.SessionRoom;
import dev.berth.serving.sessions.SessionStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A model under its name, from before it is loaded until after it is gone. Every method may be
/// called by any thread; only [#load], [#close] and an invocation take long.
public final class ServedModel {

    /// What the model is doing. It only ever moves forward: loading, ready, closing, stopped, or from
    /// any of those to stopped.
    private sealed interface State {
        record Loading() implements State {}

        record Ready(LoadedModel<?, ?, ?> model) implements State {}

        /// Requests that are inside may end.
        record Closing(LoadedModel<?, ?, ?> model) implements State {}

        record Stopped(String why) implements State {}
    }

    private static final State LOADING = new State.Loading();
    private static final State STOPPING = new State.Stopped("the server is stopping");

    private static final String NOT_LOADED = "the model could not be loaded";

    /// How long hooks may still take once their records have been refused.
    private static final Duration LAST_HOOKS = Duration.ofSeconds(1);

    private static final Duration FOR_EVER = Duration.ofNanos(Long.MAX_VALUE);

    private static final Logger log = LoggerFactory.getLogger(ServedModel.class);

    private final String name;
    private final HookLimits hooks;
    private final InFlight inFlight = new InFlight();

    /// Those that wait until it is loaded.
    private final InFlight waiting = new InFlight();

    private volatile long lastUsed = System.nanoTime();
    private final ServingMetrics metrics;
    private final AtomicReference<State> state = new AtomicReference<>(LOADING);

    /// Run by the first that closes the model. Whether nothing was left open.
    private final FutureTask<Boolean> freed = new FutureTask<>(this::free);

    public ServedModel(String name, HookLimits hooks, ServingMetrics metrics) {
        this.name = name;
        this.hooks = hooks;
        this.metrics = metrics;
    }

    public String name() {
        return name;
    }

    /// Loads the model on every worker, warms it up and starts to serve. Call once.
    ///
    /// @param handler closed with the model
    /// @param workers shared with the other models
    /// @param first asked of what `modelFn` returns for each worker
    /// @param sessions of all models
    /// @throws Exception anything that a hook threw; the model is stopped then
    public void load(
            Path directory,
            InferenceHandler<?, ?, ?> handler,
            Workers workers,
            BatchLimits limits,
            FirstRequest first,
            SessionRoom sessions)
            throws Exception {
        long start = System.nanoTime();
        var ofModel = metrics.ofModel(name);
        try {
            var loaded = new LoadedModel<>(directory, handler, workers, limits, first, sessions, hooks, ofModel);
            if (!state.compareAndSet(LOADING, new State.Ready(loaded))) {
                loaded.stopWorkers();
                throw new IllegalStateException("the server was stopped while the model loaded");
            }
            metrics.modelLoaded(Duration.ofNanos(System.nanoTime() - start));
        } catch (Throwable e) {
            state.set(new State.Stopped(NOT_LOADED));
            ofModel.close();
            HookCode.close(handler);
            throw e;
        }
    }

    /// Stays without a model because its artifact or its hooks failed, and has that counted.
    public void loadFailed(Throwable why) {
        refuse(NOT_LOADED);
        metrics.loads
                .apply(
                        why instanceof ServingException known
                                ? known.type().code().toLowerCase(Locale.ROOT)
                                : "internal")
                .increment();
    }

    /// Stays without a model: requests are refused with `why`.
    public void refuse(String why) {
        state.set(new State.Stopped(why));
    }

    /// Why it can't serve; nothing where it is loaded, a worker is left, and its hooks end.
    public Optional<String> problem() {
        return switch (state.get()) {
            case State.Ready(var model) when model.batcher.liveWorkers() > 0 -> model.pool.problem();
            case State.Ready _ -> Optional.of("%s has no worker left that can predict".formatted(name));
            case State.Loading _ -> Optional.of("%s is loading".formatted(name));
            case State.Closing _ -> Optional.of("%s is stopping".formatted(name));
            case State.Stopped(var why) -> Optional.of(why);
        };
    }

    /// Nothing where it does not serve.
    public Optional<ModelFacts> facts() {
        return state.get() instanceof State.Ready(var model) ? Optional.of(model.facts) : Optional.empty();
    }

    /// Takes a request in. Until the visit is closed, [#close] waits for it.
    ///
    /// @throws ServingException when there is no model
    public Visit enter() {
        inFlight.enter();
        lastUsed = System.nanoTime();
        try {
            return new Visit(loaded());
        } catch (RuntimeException e) {
            inFlight.leave();
            throw e;
        }
    }

    /// The same for a request that must not find the model gone once it is loaded.
    ///
    /// @param awaitLoaded waits until it is
    public Visit enter(Runnable awaitLoaded) {
        waiting.enter();
        try {
            awaitLoaded.run();
            return enter();
        } finally {
            waiting.leave();
        }
    }

    /// When a request has come last, as [System#nanoTime()] counts.
    public long lastUsed() {
        return lastUsed;
    }

    public boolean isIdle() {
        return inFlight.ifNone(() -> waiting.ifNone(() -> true));
    }

    /// Whether requests can enter.
    public boolean isReady() {
        return state.get() instanceof State.Ready;
    }

    /// Refuses requests from now on, before it is closed; false: it did so already, or is not loaded.
    public boolean refuseNew() {
        var known = state.get();
        return known instanceof State.Ready(var model) && state.compareAndSet(known, new State.Closing(model));
    }

    /// The same, if no request is inside.
    public boolean refuseNewIfIdle() {
        return inFlight.ifNone(() -> waiting.ifNone(this::refuseNew));
    }

    /// Whether it holds nothing any more.
    public boolean isGone() {
        return state.get() instanceof State.Stopped;
    }

    /// One request, from before its body is read until it has its answer.
    public final class Visit implements AutoCloseable {

        private final LoadedModel<?, ?, ?> model;

        private Visit(LoadedModel<?, ?, ?> model) {
            this.model = model;
        }

        public ModelFacts facts() {
            return model.facts;
        }

        /// What the hooks say of their records and predictions, on a thread that runs hooks.
        ///
        /// @throws ServingException when they fail
        public Signature signature() {
            try {
                return Objects.requireNonNull(model.hooks.handler.signature(), "returned null, expected a signature");
            } catch (Throwable e) {
                metrics.caught(e);
                throw HookFailure.of("signature", e);
            }
        }

        /// The same on any thread, which waits.
        ///
        /// @throws ServingException when they fail, or do not answer in time
        public Signature signature(Deadline deadline) {
            return model.pool
                    .start("signature", deadline, Map.of(), this::signature)
                    .await();
        }

        public int liveWorkers() {
            return model.batcher.liveWorkers();
        }

        public ModelMetrics metrics() {
            return model.metrics;
        }

        /// Counts what a request takes of the memory of all as the model's, where it has to leave some
        /// to others.
        public void countMemory(RequestMemory request) {
            if (hooks.areOfSeveralModels()) {
                request.countFor(ServedModel.this);
            }
        }

        /// Refuses what [#invoke] would refuse whatever the request holds, before anything is spent on
        /// reading it.
        ///
        /// @throws ServingException `OVERLOADED` or `NOT_READY`
        public void requireRoom(Deadline deadline) {
            model.pool.requireThreads();
            model.batcher.requireRoom(deadline.nanos());
        }

        /// Answers the request on the calling thread, which should be a virtual one: it waits for hooks
        /// and workers.
        ///
        /// @throws ServingException for every way in which this can fail
        public ServedAnswer invoke(InvocationRequest request, Call call) {
            return new Flight<>(model, request, call).answer();
        }

        public ServedAnswer invokeIn(SessionStore.Turn session, InvocationRequest request, Call call) {
            var flight = new Flight<>(model, request.withSession(session.value()), call);
            session.lastsUntil(flight::left);
            return flight.answer();
        }

        /// @throws ServingException `BAD_INPUT` where the hooks have none
        public SessionStore sessions() {
            return model.sessions.orElseThrow(
                    () -> ErrorType.BAD_INPUT.because(
                            "X-Amzn-SageMaker-Session-Id: found a session, but the hooks of this model have none; leave the header out"));
        }

        @Override
        public void close() {
            inFlight.leave();
        }
    }

    /// Looks for hooks that still run `grace` after the deadline of their requests.
    ///
    /// @param told of each that was not known before: what it is, and where
    public void findStuck(Duration grace, BiConsumer<String, StackTraceElement[]> told) {
        switch (state.get()) {
            case State.Ready(var model) -> model.findStuck(grace, told);
            case State.Closing(var model) -> model.findStuck(grace, told);
            case State.Loading _, State.Stopped _ -> {}
        }
    }

    /// Refuses new requests, lets running ones finish within `drain`, and frees the model. May be
    /// called by several at once: the shortest `drain` holds for all.
    ///
    /// @return whether nothing is left open; false where a hook does not end, which has the rest
    ///   freed when it does
    /// @throws Exception what the hooks threw when they were closed
    public boolean close(Duration drain) throws Exception {
        if (!(state.updateAndGet(ServedModel::closing) instanceof State.Closing)) {
            return true;
        }
        inFlight.awaitNone(drain);
        freed.run();
        try {
            return freed.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    /// Closes the model while others go on: no thread keeps anything of its hooks.
    public boolean unload(Duration drain) throws Exception {
        var model = state.get() instanceof State.Closing(var closing) ? closing : loaded();
        try {
            return close(drain);
        } finally {
            model.renewThreads();
        }
    }

    private static State closing(State state) {
        return switch (state) {
            case State.Loading() -> STOPPING;
            case State.Ready(var model) -> new State.Closing(model);
            case State.Closing _, State.Stopped _ -> state;
        };
    }

    private boolean free() throws Exception {
        var model = ((State.Closing) state.get()).model;
        try {
            if (model.stopWorkers() && freeIfLeft(model, LAST_HOOKS)) {
                return true;
            }
            log.warn("{}: a hook does not end; what it uses is freed when it does", name);
            Thread.ofPlatform().name("berth-unloader").daemon().start(() -> freeWhenLeft(model));
            return false;
        } catch (Throwable e) {
            metrics.caught(e);
            throw e;
        } finally {
            state.set(STOPPING);
            model.pool.close();
            model.metrics.close();
            metrics.modelsLoaded.decrementAndGet();
        }
    }

    /// Frees what workers that have stopped shared with hooks, unless one still runs after `time`.
    private boolean freeIfLeft(LoadedModel<?, ?, ?> model, Duration time) throws Exception {
        boolean left = inFlight.awaitNone(time);
        // Also where something does not end: only sessions that are in use stay open.
        boolean closed = model.sessions.isEmpty() || model.sessions.get().stop(time);
        if (left && closed && model.pool.inside.awaitNone(time)) {
            HookCode.close(model.hooks.handler);
            return true;
        }
        return false;
    }

    private void freeWhenLeft(LoadedModel<?, ?, ?> model) {
        try {
            model.batcher.awaitEnd();
            freeIfLeft(model, FOR_EVER);
            log.info("{}: the hook has ended, and what it used is freed", name);
        } catch (Throwable e) {
            metrics.caught(e);
            log.warn("{}: its hooks could not be closed", name, e);
        }
    }

    private LoadedModel<?, ?, ?> loaded() {
        return switch (state.get()) {
            case State.Ready(var model) -> model;
            case State.Loading() -> throw ErrorType.NOT_READY.because("the model is loading");
            case State.Closing _ -> throw ErrorType.NOT_READY.because("the model is stopping");
            case State.Stopped(var why) -> throw ErrorType.NOT_READY.because(why);
        };
    }
}
