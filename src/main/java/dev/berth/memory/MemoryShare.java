package dev.berth.memory;

import java.util.concurrent.locks.Condition;

/// Bytes of a [MemoryBudget], until they are closed.
///
/// One thread at a time lets it grow. Any thread may close it meanwhile. After that it holds nothing and never grows.
public final class MemoryShare implements AutoCloseable {

  private final MemoryBudget budget;
  /// This and the following are guarded by the budget's lock.
  final Condition turn;
  long held;
  boolean closed;

  MemoryShare(MemoryBudget budget) {
    this.budget = budget;
    this.turn = budget.newCondition();
  }

  /// Grows without waiting, so that it holds so many bytes in all.
  ///
  /// @return false where too little is free or it is closed; then it holds what it held
  public boolean tryGrowTo(long bytes) {
    return budget.tryGrow(this, bytes);
  }

  /// Waits until it can hold so many bytes in all.
  ///
  /// @param deadlineNanos by the budget's clock
  /// @return false where the deadline came first or it is closed; then it holds what it held
  public boolean growTo(long bytes, long deadlineNanos) throws InterruptedException {
    return budget.grow(this, bytes, deadlineNanos);
  }

  /// Gives back what is more than so many bytes.
  public void shrinkTo(long bytes) {
    budget.shrink(this, bytes);
  }

  /// Gives everything back. May be called again.
  @Override
  public void close() {
    budget.close(this);
  }
}
