package dev.berth.testing;

import java.lang.ref.WeakReference;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;

/// Where hooks of an artifact meet the test. Tests run one after another, and each resets it.
public final class HookProbe {

  /// What the hooks have noted, in their order.
  public static final List<String> NOTES = new CopyOnWriteArrayList<>();

  /// The class loaders that have come by.
  public static final List<WeakReference<ClassLoader>> LOADERS = new CopyOnWriteArrayList<>();

  /// For hooks that wait for a lock; a test holds it.
  public static final ReentrantLock LOCK = new ReentrantLock();

  private static volatile boolean spinning;

  private HookProbe() {}

  public static void reset() {
    NOTES.clear();
    LOADERS.clear();
    spinning = true;
  }

  public static void note(String note) {
    NOTES.add(note);
  }

  public static void saw(Class<?> type) {
    LOADERS.add(new WeakReference<>(type.getClassLoader()));
  }

  /// Computes until the test says that it is enough, whoever interrupts.
  public static void spin() {
    while (spinning) {
      Thread.onSpinWait();
    }
  }

  public static void endSpinning() {
    spinning = false;
  }
}
