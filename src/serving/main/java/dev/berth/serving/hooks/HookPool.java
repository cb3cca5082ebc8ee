package dev.berth.serving.hooks;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.error.Unsaid;
import dev.berth.metrics.ModelMetrics;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
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

    final Hooks<?, ?, ?> hooks;
    private final HookLimits limits;
    final ModelMetrics metrics;
    private final HookThreads small;
    private final HookThreads large;

    /// Counts the hooks that run, those left behind included.
    public final InFlight inside = new InFlight();

    private final AtomicInteger stuck = new AtomicInteger();

    /// @param limits of all models of the process
    public HookPool(Hooks<?, ?, ?> hooks, HookLimits limits, ModelMetrics metrics) {
        this.hooks = hooks;
        this.limits = limits;
        this.metrics = metrics;
        this.small = new HookThreads(metrics);
        this.large = new HookThreads(metrics);
    }

    /// Has hooks run as soon as they may.
    ///
    /// @param hook what messages call the first of them
    /// @param logContext what stands on their log lines
    /// @param isLarge whether their request is large, so that they may run for long
    /// @throws ServingException `OVERLOADED` when too many wait already, `NOT_READY` when too many
    ///   are stuck
    public <T> HookRun<T> start(
            String hook, Deadline deadline, Map<String, String> logContext, boolean isLarge, HookRun.Body<T> body) {
        requireThreads();
        var threads = isLarge ? large : small;
        var run = new HookRun<>(this, threads, hook, deadline, logContext, body);
        threads.execute(run);
        return run;
    }

    /// Has a hook run that is no part of an invocation.
    public <T> HookRun<T> start(String hook, Deadline deadline, Map<String, String> logContext, Callable<T> call) {
        return start(hook, deadline, logContext, false, _ -> call.call());
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
            hooks.close(session);
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

    void countStuck(int more) {
        stuck.addAndGet(more);
        limits.stuck.addAndGet(more);
        metrics.stuckHooks.addAndGet(more);
    }

    /// Looks for hooks that still run `grace` after the deadline of their request.
    ///
    /// @return those that were not known before
    public List<HookRun<?>> findStuck(Duration grace) {
        return Stream.of(small, large)
                .<HookRun<?>>flatMap(threads -> threads.running.stream())
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
