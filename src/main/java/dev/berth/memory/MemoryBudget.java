package dev.berth.memory;

import java.util.concurrent.Semaphore;

public final class MemoryBudget {
  static final int UNIT = 1024;
  final Semaphore units;
  final int all;

  public MemoryBudget(long bytes) {
    this.all = Math.clamp(bytes / UNIT, 1, Integer.MAX_VALUE);
    this.units = new Semaphore(all, true);
  }

  public MemoryShare share() {
    return new MemoryShare(this);
  }
}
