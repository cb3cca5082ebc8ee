package dev.berth.serving;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.metrics.ModelMetrics;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/// Calls of a model's hooks that are no part of an invocation. May be used by any thread.
final class HookCalls {

  private final InferenceHandler<?, ?, ?> handler;
  private final HookPool pool;
  private final HookScope scope;
  private final ModelMetrics metrics;

  HookCalls(
      InferenceHandler<?, ?, ?> handler, HookPool pool, HookScope scope, ModelMetrics metrics) {
    this.handler = handler;
    this.pool = pool;
    this.scope = scope;
    this.metrics = metrics;
  }

  /// Has a hook run on one of the pool's threads, and waits for it until the deadline.
  ///
  /// @param discard gets what the hook returns when nobody waits for it any more
  /// @throws ServingException what the hook threw, or `DEADLINE_EXCEEDED`
  <T> T call(
      String hook,
      Deadline deadline,
      Map<String, String> logContext,
      Callable<T> call,
      Consumer<T> discard) {
    var result = new CompletableFuture<T>();
    var run =
        pool.start(
            scope,
            hook,
            logContext,
            deadline,
            false,
            _ -> {
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
    while (true) {
      try {
        return result.get(deadline.nanosLeft(), TimeUnit.NANOSECONDS);
      } catch (TimeoutException e) {
        if (deadline.isOver() && result.completeExceptionally(e)) {
          throw new ServingException(
              ErrorType.DEADLINE_EXCEEDED, "the request's time ran out while " + run.cancel(), e);
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

  /// Runs something of the hooks on a thread of its own. The model is not freed before it ends.
  void whileInside(Runnable run) {
    scope.inside().enter();
    Thread.ofVirtual()
        .name("berth-session-close")
        .start(
            () -> {
              try {
                HookPredictor.withClassesOf(
                    handler,
                    () -> {
                      run.run();
                      return null;
                    });
              } finally {
                scope.inside().leave();
              }
            });
  }
}
