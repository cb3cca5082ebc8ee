package dev.berth.serving;

import dev.berth.artifact.code.HookCode;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.Signature;
import dev.berth.memory.RequestMemory;
import dev.berth.metrics.ModelMetrics;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.hooks.HookFailure;
import dev.berth.serving.hooks.HookThreads;
import dev.berth.serving.hooks.InFlight;
import dev.berth.serving.sessions.SessionStore;
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
    ///
    /// @param model null: there is none yet, or none any more
    /// @param refusal why requests are refused; nothing: they can enter
    private record State(LoadedModel<?, ?, ?> model, Optional<String> refusal) {

        static State without(String why) {
            return new State(null, Optional.of(why));
        }

        /// Requests that are inside may end.
        State closing() {
            return model != null ? new State(model, CLOSING) : equals(LOADING) ? STOPPING : this;
        }
    }

    private static final State LOADING = State.without("the model is loading");
    private static final State STOPPING = State.without("the server is stopping");
    private static final Optional<String> CLOSING = Optional.of("the model is stopping");

    private static final String NOT_LOADED = "the model could not be loaded";

    /// How long hooks may still take once their records have been refused.
    private static final Duration LAST_HOOKS = Duration.ofSeconds(1);

    private static final Duration FOR_EVER = Duration.ofNanos(Long.MAX_VALUE);

    private static final Logger log = LoggerFactory.getLogger(ServedModel.class);

    private final String name;
    private final HookThreads hooks;
    private final InFlight inFlight = new InFlight();
    private volatile long lastUsed = System.nanoTime();
    private final ServingMetrics metrics;
    private final AtomicReference<State> state = new AtomicReference<>(LOADING);

    /// Run by the first that closes the model. Whether nothing was left open.
    private final FutureTask<Boolean> freed = new FutureTask<>(this::free);

    public ServedModel(String name, HookThreads hooks, ServingMetrics metrics) {
        this.name = name;
        this.hooks = hooks;
        this.metrics = metrics;
    }

    public String name() {
        return name;
    }

    /// Loads the model on every worker, warms it up and starts to serve. Call once.
    ///
    /// @throws Exception anything that a hook threw; the model is stopped then
    public void load(ModelPlan<?, ?, ?> plan) throws Exception {
        long start = System.nanoTime();
        var ofModel = metrics.ofModel(name);
        try {
            var loaded = new LoadedModel<>(plan, hooks, ofModel);
            if (!state.compareAndSet(LOADING, new State(loaded, Optional.empty()))) {
                loaded.batcher.close();
                throw new IllegalStateException("the server was stopped while the model loaded");
            }
            metrics.modelLoaded(Duration.ofNanos(System.nanoTime() - start));
        } catch (Throwable e) {
            refuse(NOT_LOADED);
            ofModel.close();
            HookCode.close(plan.handler());
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
        state.set(State.without(why));
    }

    /// Why it can't serve; nothing where it is loaded, a worker is left, and its hooks end.
    public Optional<String> problem() {
        var now = state.get();
        return now.refusal.isPresent()
                ? now.refusal
                : now.model.batcher.liveWorkers() > 0
                        ? now.model.pool.problem()
                        : Optional.of("%s has no worker left that can predict".formatted(name));
    }

    /// Nothing where it does not serve.
    public Optional<ModelFacts> facts() {
        return Optional.of(state.get()).filter(now -> now.refusal.isEmpty()).map(now -> now.model.facts);
    }

    /// Takes a request in. Until the visit is closed, [#close] waits for it.
    ///
    /// @throws ServingException when there is no model
    public Visit enter() {
        return enter(() -> {});
    }

    /// The same for a request that must not find the model gone once it is loaded.
    ///
    /// @param awaitLoaded waits until it is
    public Visit enter(Runnable awaitLoaded) {
        inFlight.enter();
        try {
            awaitLoaded.run();
            lastUsed = System.nanoTime();
            return new Visit(loaded());
        } catch (Throwable e) {
            inFlight.leave();
            throw e;
        }
    }

    /// When a request has come last, as [System#nanoTime()] counts.
    public long lastUsed() {
        return lastUsed;
    }

    public boolean isIdle() {
        return inFlight.ifNone(() -> true);
    }

    /// Whether requests can enter.
    public boolean isReady() {
        return state.get().refusal.isEmpty();
    }

    /// Refuses requests from now on, before it is closed; false: it did so already, or is not loaded.
    public boolean refuseNew() {
        var known = state.get();
        return known.refusal.isEmpty() && state.compareAndSet(known, known.closing());
    }

    /// The same, if no request is inside.
    public boolean refuseNewIfIdle() {
        return inFlight.ifNone(this::refuseNew);
    }

    /// Whether it holds nothing any more.
    public boolean isGone() {
        var now = state.get();
        return now.model == null && !now.equals(LOADING);
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
            if (hooks.areOfSeveralModels) {
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

    /// Ends sessions that were not used for long, and looks for hooks that still run `grace` after the
    /// deadline of their requests. Called once a second or so.
    ///
    /// @param told of each that was not known before: what it is, and where
    public void look(Duration grace, BiConsumer<String, StackTraceElement[]> told) {
        Optional.ofNullable(state.get().model).ifPresent(model -> model.look(grace, told));
    }

    /// Refuses new requests, lets running ones finish within `drain`, and frees the model. May be
    /// called by several at once: the shortest `drain` holds for all.
    ///
    /// @return whether nothing is left open; false where a hook does not end, which has the rest
    ///   freed when it does
    /// @throws Exception what the hooks threw when they were closed
    public boolean close(Duration drain) throws Exception {
        if (state.updateAndGet(State::closing).model == null) {
            return true;
        }
        if (!inFlight.awaitNone(drain)) {
            log.warn("{}: gave up the requests that still ran after {} s", name, drain.toSeconds());
        }
        freed.run();
        try {
            return freed.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    private boolean free() throws Exception {
        var model = state.get().model;
        try {
            model.batcher.close();
            if (model.batcher.hasEnded() && freeIfLeft(model, LAST_HOOKS)) {
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
        var now = state.get();
        now.refusal.ifPresent(why -> {
            throw ErrorType.NOT_READY.because(why);
        });
        return now.model;
    }
}
