package dev.berth.command;

import dev.berth.engine.Engine;
import dev.berth.hooks.Accelerator;
import dev.berth.memory.Footprint;
import dev.berth.memory.HostMemory;
import dev.berth.serving.many.ModelRoom;
import dev.berth.tokenizer.Tokenizer;
import java.nio.file.Path;
import java.util.List;

/// Which memories a model is loaded into, and what the files of its artifact take of each.
final class ModelMemory {

    private ModelMemory() {}

    /// @param accelerators those of the workers
    static ModelRoom.Store host(List<Accelerator> accelerators, HostMemory memory) {
        boolean weightsElsewhere = accelerators.stream().anyMatch(Accelerator.Gpu.class::isInstance);
        return new ModelRoom.Store(memory::read, file -> {
            if (file.endsWith("tokenizer.json")) {
                return Tokenizer.footprint(file);
            }
            var graph = graph(file);
            return weightsElsewhere ? new Footprint(0, graph.whileLoading()) : graph;
        });
    }

    /// Each GPU gets a copy.
    static List<ModelRoom.Store> devices(List<Accelerator> accelerators) {
        return accelerators.stream()
                .distinct()
                .filter(Accelerator.Gpu.class::isInstance)
                .map(gpu -> new ModelRoom.Store(
                        () -> Engine.ALL.stream()
                                .flatMap(engine -> engine.memory(gpu).stream())
                                .findFirst(),
                        file -> new Footprint(graph(file).kept(), 0)))
                .toList();
    }

    /// Of an engine's file. What other files take is not known before.
    private static Footprint graph(Path file) {
        return Engine.isModel(file) ? Engine.of(file).footprint(file) : Footprint.NONE;
    }
}
