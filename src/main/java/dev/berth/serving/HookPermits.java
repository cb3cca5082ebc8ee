package dev.berth.serving;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/// How many `inputFn`, `length` and `outputFn` calls run at the same time, of all models together.
///
/// They run on virtual threads and may compute for seconds, while a virtual thread gives its carrier up only when it
/// blocks. So there are always carriers besides those of the hooks that run: requests arrive, pings are answered and
/// responses leave on these. A permit is handed back while a hook waits for the network, so that slow uploads stop
/// nobody.
public final class HookPermits {

  private static final int MOST_HOOKS = 28;

  private final Semaphore permits = new Semaphore(MOST_HOOKS);

  /// Runs a hook as soon as there is a permit.
  ///
  /// @throws ServingException when there is none before the deadline
  /// @throws ExecutionException with what the hook threw
  <T> T during(long deadlineNanos, Callable<T> hook) throws InterruptedException, ExecutionException {
    acquire(deadlineNanos);
    try {
      return hook.call();
    } catch (Throwable e) {
      throw new ExecutionException(e);
    } finally {
      release();
    }
  }

  private void acquire(long deadlineNanos) throws InterruptedException {
    if (!permits.tryAcquire() && !permits.tryAcquire(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS)) {
      throw new ServingException(
          ErrorType.DEADLINE_EXCEEDED, "the request's time ran out while it waited for a hook to be free");
    }
    Carriers.hookBegins();
  }

  private void release() {
    Carriers.hookEnds();
    permits.release();
  }

  /// Waits for something else than the processor without keeping others from it. The calling thread must hold a permit.
  <T, E extends Exception> T yielding(Blocking<T, E> blocking) throws E {
    release();
    try {
      return blocking.run();
    } finally {
      permits.acquireUninterruptibly();
      Carriers.hookBegins();
    }
  }

  /// Something that waits.
  interface Blocking<T, E extends Exception> {
    T run() throws E;
  }
}
