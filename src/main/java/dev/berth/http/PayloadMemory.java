package dev.berth.http;

import dev.berth.memory.MemoryBudget;

/// The memory that requests' bodies may take, all together.
///
/// Two budgets, so that nobody who waits for one holds some of it: a body that arrives takes of the first and never waits,
/// so that a stalled upload holds no more than what has come of it; a hook that reads a whole body waits for its share of
/// the second.
///
/// @param arriving for bytes that have come
/// @param parsed for what becomes of them
record PayloadMemory(MemoryBudget arriving, MemoryBudget parsed) {

  static PayloadMemory forThisJvm() {
    long heap = Runtime.getRuntime().maxMemory();
    return new PayloadMemory(new MemoryBudget(heap / 4), new MemoryBudget(heap / 4 * 3));
  }
}
