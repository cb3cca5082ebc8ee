package dev.berth.memory;

import java.util.function.LongSupplier;

/// The heap that requests may take, all together: the one account of a process, in three parts.
///
/// Whoever waits for a part holds nothing of it that others wait for, so nobody waits for ever:
///
/// - `few` has the first bytes of every request, so that large requests never keep small ones waiting.
/// - `arriving` has bodies that are being received. A stalled one holds what has come of it, and nothing more.
/// - `made` has what hooks make of large bodies: texts, trees, unpacked archives, pictures, tensors, tokens.
///
/// What is left of the heap is for the server itself, and for the collector, which needs room to work.
public record ProcessMemory(MemoryBudget few, MemoryBudget arriving, MemoryBudget made) {

  private static final ProcessMemory THIS = ofHeap(Runtime.getRuntime().maxMemory(), System::nanoTime);

  /// The account of this process.
  public static ProcessMemory ofThisProcess() {
    return THIS;
  }

  /// The account of a process with so large a heap.
  static ProcessMemory ofHeap(long bytes, LongSupplier clock) {
    return new ProcessMemory(
        new MemoryBudget(bytes / 100 * 8, clock),
        new MemoryBudget(bytes / 100 * 15, clock),
        new MemoryBudget(bytes / 100 * 45, clock));
  }
}
