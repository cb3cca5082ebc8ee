package dev.berth.hooks;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/// What a worker tells [InferenceHandler#modelFn] about the model that it is to load. It may gain
/// parts: read it by its accessors. Only tests make one.
///
/// @param modelDirectory the model artifact: the directory unpacked from `model.tar.gz`, to be read
///   only
/// @param accelerator the device that this worker owns, one of `accelerators`
/// @param worker the worker's number, from 0
/// @param accelerators the devices of all workers, each of them once
/// @param maxBatchSize the most records that `predictFn` gets at once, as [InferenceHandler#count] has them
/// @param metrics what the hooks may count and time
public record ModelContext(
        Path modelDirectory,
        Accelerator accelerator,
        int worker,
        List<Accelerator> accelerators,
        int maxBatchSize,
        Metrics metrics) {

    /// Without a limit, and without anybody who looks at the metrics.
    public ModelContext(Path modelDirectory, Accelerator accelerator, int worker, List<Accelerator> accelerators) {
        this(modelDirectory, accelerator, worker, accelerators, Integer.MAX_VALUE, Metrics.NONE);
    }

    public ModelContext {
        Objects.requireNonNull(modelDirectory, "modelDirectory");
        Objects.requireNonNull(accelerator, "accelerator");
        Objects.requireNonNull(metrics, "metrics");
        accelerators = List.copyOf(accelerators);
        if (!accelerators.contains(accelerator)) {
            throw new IllegalArgumentException(
                    "accelerator: found %s, expected one of %s".formatted(accelerator, accelerators));
        }
    }
}
