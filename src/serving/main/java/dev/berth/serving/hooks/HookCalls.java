package dev.berth.serving.hooks;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.error.Unsaid;
import dev.berth.hooks.InferenceHandler;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Calls of a model's hooks that are no part of an invocation. May be used by any thread.
public final class HookCalls {

    private static final Logger log = LoggerFactory.getLogger(HookCalls.class);

    private final InferenceHandler<?, ?, ?> handler;
    private final HookPool pool;
    private final HookScope scope;

    public HookCalls(InferenceHandler<?, ?, ?> handler, HookPool pool, HookScope scope) {
        this.handler = handler;
        this.pool = pool;
        this.scope = scope;
    }

    /// Has a hook run on one of the pool's threads, and waits for it until the deadline.
    ///
    /// @param discard gets what the hook returns when no caller waits for it
    /// @throws ServingException what the hook threw, or `DEADLINE_EXCEEDED`
    public <T> T call(
            String hook, Deadline deadline, Map<String, String> logContext, Callable<T> call, Consumer<T> discard) {
        var result = new CompletableFuture<T>();
        var run = pool.start(scope, hook, logContext, deadline, false, _ -> {
            try {
                var value = call.call();
                if (!result.complete(value)) {
                    discard.accept(value);
                }
            } catch (Throwable e) {
                scope.metrics.caught(e);
                result.completeExceptionally(HookFailure.inside(hook, e));
            }
        });
        while (true) {
            try {
                return result.get(deadline.nanosLeft(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                if (deadline.isOver() && result.completeExceptionally(e)) {
                    throw ErrorType.DEADLINE_EXCEEDED.because("the request's time ran out while " + run.cancel(), e);
                }
            } catch (InterruptedException e) {
                if (result.completeExceptionally(e)) {
                    run.cancel();
                }
                throw HookFailure.of(hook, e);
            } catch (ExecutionException e) {
                throw (ServingException) e.getCause();
            }
        }
    }

    /// Closes what the hooks have made, if it wants to be, on a thread of its own: nobody waits for
    /// that. The model is not freed before it ends.
    public void close(Object value) {
        if (!(value instanceof AutoCloseable)) {
            return;
        }
        scope.inside.enter();
        try {
            Thread.ofPlatform()
                    .name("berth-session-close")
                    .daemon()
                    .inheritInheritableThreadLocals(false)
                    .start(() -> closeInside(value));
        } catch (Throwable e) {
            // There may be no memory for a thread.
            notClosed(e);
        }
    }

    private void closeInside(Object value) {
        try {
            HookClasses.close(handler, value);
            scope.inside.leave();
        } catch (Throwable e) {
            notClosed(e);
        }
    }

    private void notClosed(Throwable e) {
        scope.inside.leave();
        scope.metrics.caught(e);
        log.warn("{}: a session could not be closed", scope.metrics.model(), Unsaid.of(e));
    }
}
