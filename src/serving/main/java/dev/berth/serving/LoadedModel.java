package dev.berth.serving;

import dev.berth.artifact.code.HookCode;
import dev.berth.batching.BatchLimits;
import dev.berth.batching.Batcher;
import dev.berth.batching.Predictor;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.SessionHandler;
import dev.berth.hooks.StreamingHandler;
import dev.berth.metrics.ModelMetrics;
import dev.berth.serving.hooks.FirstRequest;
import dev.berth.serving.hooks.HookLimits;
import dev.berth.serving.hooks.HookPool;
import dev.berth.serving.hooks.HookPredictor;
import dev.berth.serving.hooks.HookStepper;
import dev.berth.serving.hooks.Hooks;
import dev.berth.serving.hooks.LoadException;
import dev.berth.serving.hooks.Rehearsal;
import dev.berth.serving.sessions.SessionRoom;
import dev.berth.serving.sessions.SessionStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.function.BiConsumer;

/// Hooks with a batcher and its workers: what a [Flight] goes through. Hooks run outside of every
/// lock.
final class LoadedModel<M, I, O> {

    final Hooks<M, I, O> hooks;
    final Batcher<I, O> batcher;
    final HookPool pool;
    final ModelMetrics metrics;
    private final Workers workers;
    final ModelFacts facts;

    /// Nothing where the handler has none.
    final Optional<SessionStore> sessions;

    /// Loads the model on every worker, and returns when all of them are warm.
    ///
    /// @throws LoadException when a hook fails
    LoadedModel(
            Path directory,
            InferenceHandler<M, I, O> handler,
            Workers workers,
            BatchLimits limits,
            FirstRequest first,
            SessionRoom room,
            HookLimits limitsOfHooks,
            ModelMetrics metrics)
            throws Exception {
        this.hooks = new Hooks<>(handler, metrics.ofHooks);
        this.workers = workers;
        this.pool = new HookPool(hooks, limitsOfHooks, metrics);
        this.metrics = metrics;
        var accelerators = workers.accelerators();
        var distinct = accelerators.stream().distinct().toList();
        this.batcher = new Batcher<>(
                hooks.predicting(),
                workers.pool(),
                limits,
                worker -> open(
                        new ModelContext(directory, accelerators.get(worker), worker, distinct, metrics.ofHooks),
                        first,
                        limits.maxBatchSize()),
                System::nanoTime,
                metrics);
        try {
            batcher.start();
            // Asked once and not for each request, none of which it can hold up then.
            this.facts = new ModelFacts(
                    hooks.requestTypes(),
                    hooks.responseTypes(),
                    hooks.openAiPaths(),
                    hooks.task(),
                    handler instanceof StreamingHandler<?, ?, ?, ?>,
                    handler instanceof SessionHandler<?>,
                    accelerators);
            this.sessions = handler instanceof SessionHandler<?> remembers
                    ? Optional.of(new SessionStore(remembers, pool, hooks, room, metrics))
                    : Optional.empty();
        } catch (Throwable e) {
            batcher.close();
            throw e;
        }
    }

    private Predictor<I, O> open(ModelContext context, FirstRequest first, int maxBatchSize) throws LoadException {
        var model = hooks.load(context);
        LoadException.during(
                "the first request",
                () -> hooks.call(() -> {
                    first.ask(new Rehearsal<>(hooks, model, maxBatchSize));
                    return model;
                }));
        return hooks.handler instanceof StreamingHandler<M, I, O, ?> streaming
                ? new HookStepper<>(hooks, streaming, model)
                : new HookPredictor<>(hooks, model);
    }

    /// See [ServedModel#findStuck].
    void findStuck(Duration grace, BiConsumer<String, StackTraceElement[]> told) {
        pool.findStuck(grace)
                .forEach(run -> told.accept(
                        "%s is stuck: it still runs %d s after the deadline of its request; model: %s"
                                .formatted(run.hook(), grace.toSeconds(), metrics.model()),
                        run.stack()));
        batcher.findStuck(grace)
                .forEach(thread -> told.accept(
                        "%s is stuck: it still runs %d s after the deadline of all its requests; %s has %d workers left"
                                .formatted(
                                        hooks.predicting(), grace.toSeconds(), metrics.model(), batcher.liveWorkers()),
                        thread.getStackTrace()));
    }

    /// Fails what is still queued or running and stops the workers, which close their models.
    ///
    /// @return whether all of them did
    boolean stopWorkers() {
        batcher.close();
        return batcher.hasEnded();
    }

    /// Has hooks and predictors of other models run on new threads, where hooks from the artifact may
    /// have left thread-local variables behind.
    void renewThreads() {
        if (HookCode.isFromArtifact(hooks.handler)) {
            workers.pool().renew();
        }
    }
}
