package dev.berth.serving;

import dev.berth.batching.WorkerPool;
import dev.berth.hooks.Accelerator;
import dev.berth.metrics.ServingMetrics;
import java.util.List;

/// The threads that predict for all models of the process, and the device of each.
///
/// @param accelerators one for each worker
public record Workers(List<Accelerator> accelerators, WorkerPool pool) implements AutoCloseable {

    public Workers {
        accelerators = List.copyOf(accelerators);
    }

    /// Starts the workers.
    ///
    /// @param accelerators one for each worker
    public static Workers on(List<Accelerator> accelerators, ServingMetrics metrics) {
        Runnable onStart = accelerators.getFirst() instanceof Accelerator.Cpu ? ThreadPriority::lower : () -> {};
        return new Workers(accelerators, new WorkerPool(accelerators.size(), onStart, metrics));
    }

    @Override
    public void close() {
        pool.close();
    }
}
