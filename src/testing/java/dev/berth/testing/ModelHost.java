package dev.berth.testing;

import dev.berth.batching.BatchLimits;
import dev.berth.batching.WorkerPool;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.hooks.InferenceHandler;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.ModelPlan;
import dev.berth.serving.ServedModel;
import dev.berth.serving.hooks.FirstRequest;
import dev.berth.serving.hooks.HookThreads;
import dev.berth.serving.many.ManyModels;
import dev.berth.serving.many.ModelStore;
import dev.berth.serving.sessions.SessionRoom;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// What models are loaded onto without a server around them: one worker of a CPU. Closing it unloads
/// them all.
public final class ModelHost implements AutoCloseable {

    public static final List<Accelerator> CPU = List.of(new Accelerator.Cpu(1, CpuProfile.ADAPTIVE));

    private final ServingMetrics metrics = new ServingMetrics();
    private final WorkerPool workers = new WorkerPool(CPU);
    private final List<ModelStore> stores = new ArrayList<>();

    public ModelStore store(ModelStore.Loader loader) {
        return store(loader, Duration.ofMinutes(5));
    }

    /// @param patience how long a load may take
    public ModelStore store(ModelStore.Loader loader, Duration patience) {
        stores.add(new ModelStore(HookThreads.ofSeveralModels(), metrics, loader, patience, Duration.ofSeconds(10)));
        return stores.getLast();
    }

    public void load(ServedModel model, Path directory, InferenceHandler<?, ?, ?> handler, FirstRequest first)
            throws Exception {
        var limits = new BatchLimits(8, Integer.MAX_VALUE, Duration.ZERO, 128, Duration.ofMillis(300));
        model.load(new ModelPlan<>(directory, handler, workers, limits, first, new SessionRoom(1, 1)));
    }

    @Override
    public void close() throws Exception {
        for (var store : stores) {
            ManyModels.of(store).close(Duration.ZERO);
        }
        metrics.close();
    }
}
