package dev.berth.command;

import dev.berth.batching.WorkerPool;
import dev.berth.config.ModelConfig;
import dev.berth.config.ServerConfig;
import dev.berth.engine.Devices;
import dev.berth.engine.Engine;
import dev.berth.engine.Machine;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.Accelerator;
import dev.berth.memory.Footprint;
import dev.berth.memory.HostMemory;
import dev.berth.serving.ServedModel;
import dev.berth.serving.many.ModelRoom;
import dev.berth.serving.many.ModelStore;
import dev.berth.serving.sessions.SessionRoom;
import dev.berth.tokenizer.Tokenizer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Loads the artifacts of a multi-model endpoint onto devices that are chosen once, at start.
final class ArtifactLoader implements ModelStore.Loader {

    private static final Logger log = LoggerFactory.getLogger(ArtifactLoader.class);

    /// What all models share.
    private record Place(Devices devices, WorkerPool workers, ModelRoom room) {}

    private final ServerConfig config;
    private final SessionRoom sessions;
    private final FutureTask<Place> place = new FutureTask<>(this::choose);

    ArtifactLoader(ServerConfig config) {
        this.config = config;
        this.sessions = Deployment.sessions(config);
    }

    /// Chooses the devices and the workers. Until then, loads wait.
    WorkerPool prepare() throws Exception {
        place.run();
        return place.get().workers;
    }

    private Place choose() {
        var devices = Deployment.prepared(Deployment.devices(config, Machine.current()), config, Engine.ALL);
        log.info("accelerators: {} ({})", devices.accelerators(), devices.origin());
        var workers = new WorkerPool(Deployment.workers(config, devices));
        var accelerators = workers.accelerators();
        var budget = config.find(ModelConfig.MODELS_MEMORY).map(megabytes -> (long) megabytes << 20);
        var room =
                new ModelRoom(this::loadFitting, host(accelerators, new HostMemory()), devices(accelerators), budget);
        return new Place(devices, workers, room);
    }

    /// @throws ServingException `BAD_INPUT` for what is wrong with the artifact, `INTERNAL` when a
    ///   hook fails, `INSUFFICIENT_MEMORY` when there is no room for it
    @Override
    public void load(ServedModel model, Path directory, Optional<ModelStore> others) {
        try {
            place.get().room.load(model, directory, others);
        } catch (ServingException e) {
            throw e;
        } catch (Throwable e) {
            var why = StartException.of(e);
            throw (why.saysWhy() ? ErrorType.BAD_INPUT : ErrorType.INTERNAL)
                    .because(
                            "model \"%s\" could not be loaded: %s".formatted(model.name(), why.getMessage()),
                            why.getCause());
        }
    }

    private void loadFitting(ServedModel model, Path directory, Optional<ModelStore> others) throws Exception {
        var shared = place.get();
        var deployment = Deployment.plan(config, directory.toAbsolutePath().normalize(), shared.devices);
        deployment
                .hooks()
                .description()
                .forEach((name, value) -> log.info("model \"{}\": {}: {}", model.name(), name, value));
        deployment.load(model, shared.workers, sessions);
    }

    /// The memory of the process, and what the files of an artifact take of it.
    ///
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

    /// That of each GPU, of which each gets a copy.
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
