package dev.berth.memory;

import java.util.concurrent.locks.Condition;

/// Bytes of a [MemoryBudget], until they are closed.
///
/// One thread at a time lets it grow. Any thread may close it meanwhile. After that it holds
/// nothing and never grows.
public final class MemoryShare implements AutoCloseable {

  private final MemoryBudget budget;

  /// This and the following are guarded by the budget's lock.
  final Condition turn;

  private long held;

  /// How many bytes it waits for, where it does.
  private long wanted;

  private boolean closed;

  /// Null where its model has the budget alone.
  private Object model;

  MemoryShare(MemoryBudget budget) {
    this.budget = budget;
    this.turn = budget.lock.newCondition();
  }

  /// Counts it as one of a model's from now on. It holds nothing yet.
  void countFor(Object model) {
    budget.lock.lock();
    try {
      this.model = model;
    } finally {
      budget.lock.unlock();
    }
  }

  /// Whether its model has so much, with other shares, that it may not hold so many bytes more.
  private boolean isRefused(long more) {
    long ofModel = model == null ? 0 : budget.ofModels.getOrDefault(model, 0L);
    return ofModel > held && ofModel + more > budget.bytes() / 2;
  }

  private void add(long bytes) {
    budget.free -= bytes;
    held += bytes;
    if (model != null && bytes != 0) {
      budget.ofModels.merge(model, bytes, (all, more) -> all + more == 0 ? null : all + more);
    }
  }

  /// Grows without waiting, so that it holds so many bytes in all.
  ///
  /// @return false where too little is free or it is closed; then it holds what it held
  public boolean tryGrowTo(long bytes) {
    budget.lock.lock();
    try {
      long more = Math.max(Math.min(bytes, budget.bytes()) - held, 0);
      if (closed || more > budget.free || isRefused(more)) {
        return false;
      }
      add(more);
      return true;
    } finally {
      budget.lock.unlock();
    }
  }

  /// Waits until it can hold so many bytes in all.
  ///
  /// It does not wait where it and others that wait could block each other by what they hold, nor
  /// where its model holds its half: those of other models would wait behind it.
  ///
  /// @param deadlineNanos by the budget's clock
  /// @return false where the deadline came first, it would block others, its model holds too much,
  ///   or it is closed; then it holds what it held
  public boolean growTo(long bytes, long deadlineNanos) throws InterruptedException {
    budget.lock.lockInterruptibly();
    try {
      if (held > 0 && held >= Math.min(bytes, budget.bytes())) {
        return true;
      }
      wanted = Math.min(bytes, budget.bytes());
      if (held > 0 && wouldBlock()) {
        return tryGrowTo(bytes);
      }
      var line = held > 0 ? budget.growing : budget.beginning;
      line.add(this);
      try {
        while (budget.next() != this || !tryGrowTo(bytes)) {
          long left = deadlineNanos - budget.clock.getAsLong();
          if (closed || left <= 0 || isRefused(wanted - held)) {
            return false;
          }
          turn.awaitNanos(left);
        }
        return true;
      } finally {
        line.remove(this);
        budget.callNext();
      }
    } finally {
      budget.lock.unlock();
    }
  }

  /// Whether there would be too little for one of those that wait, this one included, when all
  /// others had given theirs back.
  private boolean wouldBlock() {
    long heldByWaiting = held + budget.growing.stream().mapToLong(share -> share.held).sum();
    return wanted + heldByWaiting - held > budget.bytes()
        || budget.growing.stream()
            .anyMatch(share -> share.wanted + heldByWaiting - share.held > budget.bytes());
  }

  boolean holds() {
    budget.lock.lock();
    try {
      return held > 0;
    } finally {
      budget.lock.unlock();
    }
  }

  /// Gives back what is more than so many bytes.
  public void shrinkTo(long bytes) {
    budget.lock.lock();
    try {
      long kept = Math.clamp(bytes, 0, held);
      add(kept - held);
      budget.callNext();
    } finally {
      budget.lock.unlock();
    }
  }

  /// Gives everything back. May be called again.
  @Override
  public void close() {
    budget.lock.lock();
    try {
      closed = true;
      turn.signal();
      shrinkTo(0);
    } finally {
      budget.lock.unlock();
    }
  }
}
