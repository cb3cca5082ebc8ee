package dev.berth.serving;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.MDC;

/// Runs the hooks of each request of one model on a virtual thread of its own, so that the caller is answered in time
/// whatever a hook does.
///
/// [#call] is called on the requests' threads.
final class HookThreads {

  /// How long a hook may take to notice that it is interrupted.
  private static final Duration AFTER_INTERRUPT = Duration.ofMillis(100);

  private final ClassLoader classes;
  private final InFlight running = new InFlight();

  /// @param classes where libraries that look for services find those of the hooks
  HookThreads(ClassLoader classes) {
    this.classes = classes;
  }

  /// Runs hooks. Those that do not end in time are interrupted and left behind.
  ///
  /// @param activity what is going on, for the message when the time is over; nothing where that ends in time by itself
  /// @throws ServingException when they do not end before the deadline
  /// @throws ExecutionException with what they threw
  <T> T call(Supplier<Optional<String>> activity, long deadlineNanos, Callable<T> hooks)
      throws InterruptedException, ExecutionException {
    running.enter();
    var context = Objects.requireNonNullElse(MDC.getCopyOfContextMap(), Map.<String, String>of());
    var task = new FutureTask<>(() -> {
      try {
        MDC.setContextMap(context);
        Thread.currentThread().setContextClassLoader(classes);
        return hooks.call();
      } finally {
        running.leave();
      }
    });
    var thread = Thread.ofVirtual().name("berth-hook").start(task);
    try {
      return task.get(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      var going = activity.get();
      if (going.isEmpty()) {
        return task.get();
      }
      var message = "the request's time ran out while " + going.get();
      thread.interrupt();
      // It may be reading the body, which is the request's own thread's to deal with now.
      thread.join(AFTER_INTERRUPT);
      throw new ServingException(ErrorType.DEADLINE_EXCEEDED, message, e);
    } catch (InterruptedException e) {
      thread.interrupt();
      throw e;
    }
  }

  /// Waits for the hooks that run, those left behind included; false: the time is over.
  boolean awaitNone(Duration time) throws InterruptedException {
    return running.awaitNone(time);
  }
}
