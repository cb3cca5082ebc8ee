package dev.berth.serving.hooks;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.error.Unsaid;
import dev.berth.hooks.InferenceHandler;
import dev.berth.metrics.ModelMetrics;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Where the hooks of one model run, but for `predictFn`. Each model has its own threads, so that
/// those of one that hangs are not missed by the others. The deadline is kept by the thread that
/// waits for a hook.
///
/// Hooks of large requests have threads of their own, so small requests always find one. A hook
/// that is stuck, because it was interrupted at its deadline and still runs long after that, leaves
/// its place to another one. When too many are stuck, the model runs no more until one ends.
///
/// May be used by any thread.
public final class HookPool implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(HookPool.class);

    private final InferenceHandler<?, ?, ?> handler;
    private final HookLimits limits;
    final ModelMetrics metrics;
    private final HookThreads small;
    private final HookThreads large;

    /// Counts the hooks that run, those left behind included.
    public final InFlight inside = new InFlight();

    private final AtomicInteger stuck = new AtomicInteger();

    /// @param limits of all models of the process
    public HookPool(InferenceHandler<?, ?, ?> handler, HookLimits limits, ModelMetrics metrics) {
        this.handler = handler;
        this.limits = limits;
        this.metrics = metrics;
        this.small = new HookThreads(metrics);
        this.large = new HookThreads(metrics);
    }

    /// Has a hook run as soon as it may.
    ///
    /// @param hook what messages call it
    /// @param logContext what stands on its log lines
    /// @param isLarge whether its request is large, so that it may run for long
    /// @param body calls the hook and must not throw
    /// @throws ServingException `OVERLOADED` when too many wait already, `NOT_READY` when too many
    ///   are stuck
    public HookRun start(
            String hook, Map<String, String> logContext, Deadline deadline, boolean isLarge, Consumer<HookRun> body) {
        requireThreads();
        var threads = isLarge ? large : small;
        var run = new HookRun(this, threads, hook, logContext, deadline, body);
        threads.execute(run);
        return run;
    }

    /// Has a hook run that is no part of an invocation, and waits for it until the deadline.
    ///
    /// @param discard gets what the hook returns when no caller waits for it
    /// @throws ServingException what the hook threw, or `DEADLINE_EXCEEDED`
    public <T> T call(
            String hook, Deadline deadline, Map<String, String> logContext, Callable<T> call, Consumer<T> discard) {
        var result = new CompletableFuture<T>();
        var run = start(hook, logContext, deadline, false, _ -> {
            try {
                var value = call.call();
                if (!result.complete(value)) {
                    discard.accept(value);
                }
            } catch (Throwable e) {
                metrics.caught(e);
                result.completeExceptionally(HookFailure.inside(hook, e));
            }
        });
        try {
            result.get(deadline.nanosLeft(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            result.completeExceptionally(
                    ErrorType.DEADLINE_EXCEEDED.because("the request's time ran out while " + run.cancel(), e));
        } catch (InterruptedException e) {
            run.cancel();
            result.completeExceptionally(HookFailure.of(hook, e));
        } catch (ExecutionException _) {
            // Thrown below.
        }
        if (result.isCompletedExceptionally()) {
            throw (ServingException) result.exceptionNow();
        }
        return result.resultNow();
    }

    /// Closes a session that hooks have made, if it wants to be, on a thread of its own: nobody waits
    /// for that. The model is not freed before it ends.
    public void closeSession(Object session) {
        if (!(session instanceof AutoCloseable)) {
            return;
        }
        inside.enter();
        try {
            Thread.ofPlatform()
                    .name("berth-session-close")
                    .daemon()
                    .inheritInheritableThreadLocals(false)
                    .start(() -> closeInside(session));
        } catch (Throwable e) {
            // There may be no memory for a thread.
            notClosed(e);
        }
    }

    private void closeInside(Object session) {
        try {
            HookClasses.close(handler, session);
            inside.leave();
        } catch (Throwable e) {
            notClosed(e);
        }
    }

    private void notClosed(Throwable e) {
        inside.leave();
        metrics.caught(e);
        log.warn("{}: a session could not be closed", metrics.model(), Unsaid.of(e));
    }

    /// Where libraries that look for services find those of the hooks.
    ClassLoader classes() {
        return handler.getClass().getClassLoader();
    }

    void countStuck(int more) {
        stuck.addAndGet(more);
        limits.stuck.addAndGet(more);
        metrics.stuckHooks.addAndGet(more);
    }

    /// Looks for hooks that still run `grace` after the deadline of their request.
    ///
    /// @return those that were not known before
    public List<HookRun> findStuck(Duration grace) {
        return Stream.of(small, large)
                .flatMap(threads -> threads.running.stream())
                .filter(run -> run.becomesStuck(grace))
                .toList();
    }

    /// Why no more hooks run; nothing where they do.
    public Optional<String> problem() {
        int now = stuck.get();
        return now < limits.ofModel
                ? Optional.empty()
                : Optional.of("%d hooks of %s do not end; it serves again when fewer than %d are left"
                        .formatted(now, metrics.model(), limits.ofModel));
    }

    /// @throws ServingException `NOT_READY` when no more hooks run
    public void requireThreads() {
        problem().ifPresent(problem -> {
            throw ErrorType.NOT_READY.because(problem);
        });
    }

    /// Takes no more hooks. Those that it has still run, on threads that then end with whatever the
    /// hooks have left in thread-local variables.
    @Override
    public void close() {
        small.close();
        large.close();
    }
}
