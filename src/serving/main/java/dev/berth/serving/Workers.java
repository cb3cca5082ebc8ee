package dev.berth.serving;

import dev.berth.batching.WorkerPool;
import dev.berth.hooks.Accelerator;
import java.util.List;

/// What the workers of all models of the process share, and the device of each.
///
/// @param accelerators one for each worker of a model
public record Workers(List<Accelerator> accelerators, WorkerPool pool) {

    public Workers {
        accelerators = List.copyOf(accelerators);
    }

    /// @param accelerators one for each worker of a model
    public static Workers on(List<Accelerator> accelerators) {
        Runnable onStart = accelerators.getFirst() instanceof Accelerator.Cpu ? ThreadPriority::lower : () -> {};
        return new Workers(accelerators, new WorkerPool(accelerators, onStart));
    }
}
