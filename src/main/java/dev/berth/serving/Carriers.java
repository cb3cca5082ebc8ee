package dev.berth.serving;

import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import jdk.management.VirtualThreadSchedulerMXBean;

/// The threads of this JVM that carry virtual ones: two more than there are cores, and more while hooks hold them.
///
/// Many more than cores would never have to be increased, but they wake each other: with 32 on 2 cores a server whose
/// hooks do nothing answers 5,900 requests a second, with 4 it answers 20,500.
public final class Carriers {

  private static final String PARALLELISM = "jdk.virtualThreadScheduler.parallelism";

  /// Those that hooks never hold.
  private static final int SPARE = 2;

  private static final ReentrantLock LOCK = new ReentrantLock();
  private static final AtomicInteger RUNNING = new AtomicInteger();
  /// As many as there are unless hooks hold more. Asked twice for each request, so that it is not looked up again.
  private static volatile int usual = Integer.getInteger(PARALLELISM, Runtime.getRuntime().availableProcessors());
  /// Changed under the lock.
  private static volatile int carriers = usual;

  private Carriers() {}

  /// Sets how many there are to begin with, unless the user has. To be called before there is a virtual thread.
  public static void prepare() {
    if (System.getProperty(PARALLELISM) == null) {
      usual = Runtime.getRuntime().availableProcessors() + SPARE;
      carriers = usual;
      System.setProperty(PARALLELISM, String.valueOf(usual));
    }
  }

  /// A hook begins to run on a carrier.
  static void hookBegins() {
    if (RUNNING.incrementAndGet() + SPARE > carriers) {
      change();
    }
  }

  /// A hook leaves its carrier. When the last one does, there are as many as usual again.
  static void hookEnds() {
    if (RUNNING.decrementAndGet() == 0 && carriers > usual) {
      change();
    }
  }

  private static void change() {
    LOCK.lock();
    try {
      int running = RUNNING.get();
      int wanted = Math.max(usual, running + SPARE);
      if (wanted > carriers || running == 0 && wanted < carriers) {
        Scheduler.BEAN.setParallelism(wanted);
        carriers = wanted;
        // The scheduler wakes a carrier when something is submitted, and not when there may be more of them: what was
        // submitted before would wait until something else is.
        Thread.startVirtualThread(() -> {});
      }
    } finally {
      LOCK.unlock();
    }
  }

  /// Loaded when it is needed: management takes some time to load, and few servers ever change anything.
  private static final class Scheduler {
    static final VirtualThreadSchedulerMXBean BEAN =
        ManagementFactory.getPlatformMXBean(VirtualThreadSchedulerMXBean.class);
  }
}
