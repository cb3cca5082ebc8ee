package dev.berth.serving;

import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.MDC;

/// One hook on its way: it waits for its turn in a [HookPool], runs there, and may be cancelled,
/// read the rest of a body, or be stuck.
///
/// The monitor of the pool guards where it is, so that an interrupt meets this hook and no later
/// one on the same thread.
final class HookRun {

  private static final ThreadLocal<HookRun> CURRENT = new ThreadLocal<>();

  final HookPool pool;
  final HookScope scope;
  final Deadline deadline;
  final boolean large;
  private final Map<String, String> logContext;
  private final Consumer<HookRun> body;
  private volatile String hook;

  // Guarded by the monitor of the pool, as all that follows.

  /// When it came to wait.
  long queuedAt;

  boolean hasTurn;
  boolean isStuck;
  boolean isReading;
  private boolean begun;
  private boolean cancelled;

  /// Null before it runs and after.
  private Thread thread;

  /// See [HookPool#start].
  HookRun(
      HookPool pool,
      HookScope scope,
      String hook,
      Map<String, String> logContext,
      Deadline deadline,
      boolean large,
      Consumer<HookRun> body) {
    this.pool = pool;
    this.scope = scope;
    this.hook = hook;
    this.logContext = logContext;
    this.deadline = deadline;
    this.large = large;
    this.body = body;
  }

  /// The hook that the calling thread runs; null where it runs none.
  static HookRun current() {
    return CURRENT.get();
  }

  /// The name of its model.
  String model() {
    return scope.metrics.model();
  }

  /// The hook that runs, as messages call it.
  String hook() {
    return hook;
  }

  /// Another hook runs from now on.
  void enters(String next) {
    hook = next;
  }

  /// Whether the hook runs, or may still come to run.
  boolean isInside() {
    synchronized (pool) {
      return thread != null || (!begun && !cancelled && !deadline.isOver());
    }
  }

  /// Where the hook is; nothing where it does not run.
  StackTraceElement[] stack() {
    synchronized (pool) {
      return thread == null ? new StackTraceElement[0] : thread.getStackTrace();
    }
  }

  /// Interrupts the hook, or keeps it from running at all.
  ///
  /// @return what it did until now, to end the sentence "the request's time ran out while …"
  String cancel() {
    return pool.cancel(this) ? hook + " ran" : "it waited for %s to run".formatted(hook);
  }

  /// @return whether it had begun
  boolean cancelled() {
    cancelled = true;
    if (thread != null) {
      thread.interrupt();
    }
    return begun;
  }

  /// @return whether somebody still waits for it
  boolean begin() {
    begun = !cancelled && !deadline.isOver();
    thread = begun ? Thread.currentThread() : null;
    return begun;
  }

  void end() {
    if (thread != null) {
      thread = null;
      Thread.interrupted();
    }
  }

  /// Calls the hook on its thread, with the log context and the classes of its model.
  void call() {
    var current = Thread.currentThread();
    var outer = current.getContextClassLoader();
    CURRENT.set(this);
    try {
      MDC.setContextMap(logContext);
      current.setContextClassLoader(scope.classes);
      body.accept(this);
    } finally {
      CURRENT.remove();
      MDC.clear();
      current.setContextClassLoader(outer);
    }
  }
}
