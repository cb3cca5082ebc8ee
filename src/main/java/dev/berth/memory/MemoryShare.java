package dev.berth.memory;

import java.util.concurrent.TimeUnit;

public final class MemoryShare implements AutoCloseable {
  private final MemoryBudget budget;
  private int held;
  private boolean closed;

  MemoryShare(MemoryBudget budget) {
    this.budget = budget;
  }

  private int wanted(long bytes) {
    return (int) Math.min(budget.all - held, bytes / MemoryBudget.UNIT + 1);
  }

  public boolean tryGrow(long bytes) {
    int wanted = wanted(bytes);
    return budget.units.tryAcquire(wanted) && keep(wanted);
  }

  public boolean grow(long bytes, long nanos) throws InterruptedException {
    int wanted = wanted(bytes);
    return budget.units.tryAcquire(wanted, nanos, TimeUnit.NANOSECONDS) && keep(wanted);
  }

  private synchronized boolean keep(int taken) {
    if (closed) {
      budget.units.release(taken);
      return false;
    }
    held += taken;
    return true;
  }

  @Override
  public synchronized void close() {
    if (!closed) {
      closed = true;
      budget.units.release(held);
    }
  }
}
