package dev.berth.memory;

import java.util.function.LongSupplier;

/// The heap that requests may take, all together: the one account of a process, in parts.
///
/// - `few` has what a request makes that makes little.
/// - `medium` has what one makes that makes no more than [#mostOfMedium].
/// - `large` has what any other makes, such as texts, trees, unpacked archives, pictures, tensors
///   and tokens.
///
/// So a request never waits for a larger one. What is left of the heap is for bodies that arrive, for
/// the server itself, and for the collector, which needs room to work.
///
/// @param mostOfMedium in bytes
public record ProcessMemory(MemoryBudget few, MemoryBudget medium, MemoryBudget large, long mostOfMedium) {

    private static final ProcessMemory THIS = ofHeap(Runtime.getRuntime().maxMemory(), System::nanoTime);

    /// The account of this process.
    public static ProcessMemory ofThisProcess() {
        return THIS;
    }

    /// The account of a process with so large a heap.
    static ProcessMemory ofHeap(long bytes, LongSupplier clock) {
        long percent = bytes / 100;
        return new ProcessMemory(
                new MemoryBudget(12 * percent, clock),
                new MemoryBudget(10 * percent, clock),
                new MemoryBudget(40 * percent, clock),
                percent);
    }
}
