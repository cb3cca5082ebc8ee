package dev.berth.model;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.slf4j.MDC;

/// How many `inputFn` and `outputFn` calls run at the same time.
///
/// They run on virtual threads and may compute for seconds, while a virtual thread gives its carrier up only when it
/// blocks. With fewer permits than carriers one is always left for `/ping`. A permit is handed back while a hook
/// waits for the network, so that slow uploads stop nobody.
public final class HookPermits {

  /// Carriers that hooks never take: requests arrive, pings are answered and responses leave on these.
  private static final int RESERVED_CARRIERS = 4;

  /// How long a hook may take to notice that it is interrupted.
  private static final Duration AFTER_INTERRUPT = Duration.ofMillis(100);

  private final Semaphore permits;

  HookPermits(int permits) {
    this.permits = new Semaphore(permits);
  }

  /// As many as the JVM's scheduler of virtual threads allows; see `jdk.virtualThreadScheduler.parallelism` in `serve`.
  public static HookPermits forThisJvm() {
    int carriers = Integer.getInteger(
        "jdk.virtualThreadScheduler.parallelism", Runtime.getRuntime().availableProcessors());
    return new HookPermits(Math.max(1, carriers - RESERVED_CARRIERS));
  }

  /// Runs a hook as soon as there is a permit, on a virtual thread of its own, so that the caller is answered in time
  /// whatever the hook does. One that does not end in time is interrupted and left behind, with its permit until it ends.
  ///
  /// @param activity what is going on, for the message when the time is over
  /// @throws ServingException when it does not end before the deadline
  /// @throws ExecutionException with what the hook threw
  <T> T call(Supplier<String> activity, long deadlineNanos, Callable<T> hook) throws InterruptedException, ExecutionException {
    if (!permits.tryAcquire(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS)) {
      throw new ServingException(
          ErrorType.DEADLINE_EXCEEDED, "the request's time ran out while it waited for a hook to be free");
    }
    var context = Objects.requireNonNullElse(MDC.getCopyOfContextMap(), Map.<String, String>of());
    var task = new FutureTask<>(() -> {
      try {
        MDC.setContextMap(context);
        return hook.call();
      } finally {
        permits.release();
      }
    });
    var thread = Thread.ofVirtual().name("berth-hook").start(task);
    try {
      return task.get(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      var message = "the request's time ran out while " + activity.get();
      thread.interrupt();
      // It may be reading the body, which is the request's own thread's to deal with now.
      thread.join(AFTER_INTERRUPT);
      throw new ServingException(ErrorType.DEADLINE_EXCEEDED, message, e);
    }
  }

  /// Waits for something else than the processor without keeping others from it. The calling thread must hold a permit.
  <T, E extends Exception> T yielding(Blocking<T, E> blocking) throws E {
    permits.release();
    try {
      return blocking.run();
    } finally {
      permits.acquireUninterruptibly();
    }
  }

  /// Something that waits.
  interface Blocking<T, E extends Exception> {
    T run() throws E;
  }
}
