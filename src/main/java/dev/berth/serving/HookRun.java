package dev.berth.serving;

import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.MDC;

/// One hook on its way: it waits for its turn and a thread of a [HookPool], runs there, and may be
/// cancelled, read the rest of a body, or be stuck.
///
/// Its monitor guards where it is, so that an interrupt meets this hook and no later one on the
/// same thread. The monitor of the pool is taken inside it, never the other way round.
final class HookRun implements Runnable {

  private static final ThreadLocal<HookRun> CURRENT = new ThreadLocal<>();

  final HookPool pool;
  final HookScope scope;
  final Deadline deadline;
  final boolean large;
  private final Map<String, String> logContext;
  private final Consumer<HookRun> body;
  private volatile String hook;

  /// Whether it is one of those that may run. Set by [HookTurns] alone, and so is the next one.
  volatile boolean hasTurn;

  /// Whether it is in the line of its model; written under the monitor of the pool.
  volatile boolean waitsForTurn;

  /// When it came to wait for a thread; written before it is in the queue.
  long queuedAt;

  /// Guarded by the monitor of this, as all that follows; null before it runs and after.
  private Thread thread;

  private boolean begun;
  private boolean cancelled;
  private boolean isStuck;
  private boolean isReading;

  /// @param hook what messages call it
  /// @param logContext what stands on its log lines
  /// @param large whether its request is large, so that it may run for long
  /// @param body calls the hook and must not throw
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

  /// Whether it waits for a thread.
  synchronized boolean isWaiting() {
    return !begun && !cancelled;
  }

  /// Whether the hook runs, or may still come to run.
  synchronized boolean isInside() {
    return thread != null || (!begun && !cancelled && !deadline.isOver());
  }

  /// Where the hook is; nothing where it does not run.
  synchronized StackTraceElement[] stack() {
    return thread == null ? new StackTraceElement[0] : thread.getStackTrace();
  }

  /// Interrupts the hook, or keeps it from running at all.
  ///
  /// @return what it did until now, to end the sentence "the request's time ran out while …"
  synchronized String cancel() {
    cancelled = true;
    if (waitsForTurn) {
      pool.turns.leaveLine(this);
    }
    if (!begun) {
      // Else it would have it until a thread is free, and no thread is added for it.
      pool.turns.giveBack(this);
    }
    if (thread != null) {
      thread.interrupt();
    }
    return begun ? hook + " ran" : "it waited for %s to run".formatted(hook);
  }

  @Override
  public void run() {
    countWaiting(-1);
    if (!begin()) {
      pool.turns.giveBack(this);
      return;
    }
    var current = Thread.currentThread();
    var outer = current.getContextClassLoader();
    scope.inside().enter();
    pool.running.add(this);
    CURRENT.set(this);
    try {
      MDC.setContextMap(logContext);
      current.setContextClassLoader(scope.classes);
      body.accept(this);
    } finally {
      CURRENT.remove();
      MDC.clear();
      current.setContextClassLoader(outer);
      pool.running.remove(this);
      end();
      pool.turns.giveBack(this);
      pool.threads.shrink();
      scope.inside().leave();
    }
  }

  private synchronized boolean begin() {
    begun = !cancelled && !deadline.isOver();
    thread = begun ? Thread.currentThread() : null;
    return begun;
  }

  /// The hook still runs long after its deadline.
  ///
  /// @return whether that is new, and still so
  synchronized boolean markStuck() {
    if (isStuck || thread == null) {
      return false;
    }
    isStuck = true;
    scope.metrics.hookStuck();
    pool.count(scope, 1, 0);
    pool.turns.giveBack(this);
    return true;
  }

  /// No interrupt for this hook comes after.
  private synchronized void end() {
    thread = null;
    Thread.interrupted();
    if (isStuck) {
      scope.metrics.hookUnstuck();
    }
    if (isStuck || isReading) {
      pool.count(scope, isStuck ? -1 : 0, isReading ? -1 : 0);
    }
  }

  /// The hook waits for the rest of its request's body or for memory, and leaves its place to
  /// another one where it may.
  synchronized void reads() {
    if (!isReading && !pool.mayRead(scope)) {
      return;
    }
    if (!isReading) {
      isReading = true;
      pool.count(scope, 0, 1);
    }
    pool.turns.giveBack(this);
  }

  /// Counts it among those that wait for a thread or for their turn, or no more.
  void countWaiting(int more) {
    pool.waiting.addAndGet(more);
    scope.waiting.addAndGet(more);
  }
}
