package dev.berth.serving;

import dev.berth.batching.Batcher;
import dev.berth.batching.Predictor;
import dev.berth.batching.Waiters;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.SessionHandler;
import dev.berth.metrics.ModelMetrics;
import dev.berth.serving.hooks.HookPool;
import dev.berth.serving.hooks.HookPredictor;
import dev.berth.serving.hooks.HookThreads;
import dev.berth.serving.hooks.Hooks;
import dev.berth.serving.hooks.LoadException;
import dev.berth.serving.sessions.SessionStore;
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
    private final ModelPlan<M, I, O> plan;
    final Waiters waiters;
    final ModelFacts facts;

    /// Nothing where the handler has none.
    final Optional<SessionStore> sessions;

    /// Loads the model on every worker, and returns when all of them are warm.
    ///
    /// @throws LoadException when a hook fails
    LoadedModel(ModelPlan<M, I, O> plan, HookThreads threads, ModelMetrics metrics) throws Exception {
        this.plan = plan;
        this.waiters = plan.workers().waiters;
        this.hooks = new Hooks<>(plan.handler(), metrics.ofHooks);
        this.pool = new HookPool(hooks, threads, metrics);
        this.metrics = metrics;
        this.batcher =
                Batcher.open(hooks.predicting(), plan.workers(), plan.limits(), this::open, System::nanoTime, metrics);
        try {
            // Asked once and not for each request, none of which it can hold up then.
            this.facts = new ModelFacts(
                    plan.handler(),
                    hooks.requestTypes(),
                    hooks.responseTypes(),
                    hooks.openAiPaths(),
                    hooks.task(),
                    plan.workers().accelerators());
            this.sessions = plan.handler() instanceof SessionHandler<?> remembers
                    ? Optional.of(new SessionStore(remembers, pool, hooks, plan.sessions(), metrics))
                    : Optional.empty();
        } catch (Throwable e) {
            batcher.close();
            throw e;
        }
    }

    private Predictor<I, O> open(int worker) throws LoadException {
        var accelerators = plan.workers().accelerators();
        var distinct = accelerators.stream().distinct().toList();
        var model = HookPredictor.load(
                hooks,
                new ModelContext(
                        plan.directory(),
                        accelerators.get(worker),
                        worker,
                        distinct,
                        plan.limits().mostRecords(),
                        metrics.ofHooks));
        hooks.tryOut(
                "the first request",
                model.model,
                () -> hooks.call(() -> {
                    plan.first().ask(model);
                    return model;
                }));
        return model;
    }

    /// See [ServedModel#look].
    void look(Duration grace, BiConsumer<String, StackTraceElement[]> told) {
        sessions.ifPresent(SessionStore::endExpired);
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
}
