package dev.berth.command;

import dev.berth.artifact.ArtifactBuilds;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.ModelJson;
import dev.berth.artifact.code.HookCode;
import dev.berth.batching.BatchLimits;
import dev.berth.batching.WorkerPool;
import dev.berth.config.ModelConfig;
import dev.berth.config.ServerConfig;
import dev.berth.config.ServingConfig;
import dev.berth.engine.Devices;
import dev.berth.engine.Engine;
import dev.berth.engine.EngineException;
import dev.berth.engine.Machine;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.hooks.InferenceHandler;
import dev.berth.serving.ModelPlan;
import dev.berth.serving.ServedModel;
import dev.berth.serving.hooks.FirstRequest;
import dev.berth.serving.sessions.SessionRoom;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;

/// What is served, and on what. Planning one finds everything that is wrong short of loading the
/// model, and says all of it at once.
///
/// @param directory the artifact's; of one with several builds that of the build
/// @param hooks whoever plans closes their handler
/// @param workers the accelerator of each worker
/// @param first what the model is asked before it serves
public record Deployment(
        Path directory,
        Devices devices,
        ArtifactHooks hooks,
        List<Accelerator> workers,
        BatchLimits limits,
        FirstRequest first) {

    /// On a GPU, where records of like length share a batch.
    private static final int BATCH_TOKENS = 16_384;

    /// Plans to serve the artifact with the hooks that it asks for.
    ///
    /// @throws StartException with every problem, each on a line
    /// @throws Exception anything that the constructor of the artifact's own handler throws
    public static Deployment plan(ServerConfig config, Machine machine) throws Exception {
        return plan(config, machine, Optional.empty());
    }

    /// @param own hooks that take the place of the artifact's, and are not asked its sample
    static Deployment plan(ServerConfig config, Machine machine, Optional<InferenceHandler<?, ?, ?>> own)
            throws Exception {
        var problems = new Problems();
        var directory = config.get(ModelConfig.MODEL_DIR);
        var devices = problems.get(() -> devices(config, machine));
        if (devices.isPresent()) {
            problems.get(() -> prepared(devices.get(), config, engines(directory)));
        }
        return plan(config, directory, devices, own, problems);
    }

    /// Plans to serve an artifact beside others, on devices that were [prepared][#prepared].
    static Deployment plan(ServerConfig config, Path directory, Devices devices) throws Exception {
        return plan(config, directory, Optional.of(devices), Optional.empty(), new Problems());
    }

    private static Deployment plan(
            ServerConfig config,
            Path artifact,
            Optional<Devices> devices,
            Optional<InferenceHandler<?, ?, ?>> own,
            Problems problems)
            throws Exception {
        var found = problems.get(() -> ArtifactBuilds.read(artifact));
        if (found.isEmpty() || (found.get().isPresent() && devices.isEmpty())) {
            // Which of the builds would be served is not known.
            problems.throwAll();
        }
        var builds = found.orElseThrow();
        var directory = builds.isPresent() ? fitting(builds.get(), devices.orElseThrow(), problems) : artifact;
        if (devices.isPresent()) {
            problems.get(() -> checkTarget(directory, devices.get()));
        }
        // Made before the problems are reported, because it may have some of its own.
        var hooks = problems.get(() -> own.isPresent()
                ? ArtifactHooks.own(own.get())
                : ArtifactHooks.open(directory, config.find(ModelConfig.PROGRAM)));
        try {
            problems.throwAll();
            var workers = workers(config, devices.orElseThrow());
            if (builds.isPresent()) {
                hooks.get()
                        .description()
                        .putFirst(
                                "builds",
                                "%s; this is %s".formatted(builds.get().devices(), artifact.relativize(directory)));
            }
            var limits = limits(config, hooks.orElseThrow().handler(), workers.getFirst());
            var absolute = directory.toAbsolutePath().normalize();
            var first = own.isPresent() ? FirstRequest.NONE : SampleRequest.first(absolute, config);
            return new Deployment(absolute, devices.get(), hooks.get(), workers, limits, first);
        } catch (Throwable e) {
            if (hooks.isPresent()) {
                HookCode.close(hooks.get().handler());
            }
            throw e;
        }
    }

    /// See [ServedModel#load].
    public void load(ServedModel model, WorkerPool workers, SessionRoom sessions) throws Exception {
        model.load(new ModelPlan<>(directory, hooks.handler(), workers, limits, first, sessions));
    }

    /// @throws EngineException when there are none as the settings want them
    static Devices devices(ServerConfig config, Machine machine) {
        var cores = config.find(ModelConfig.NEURON_CORES).stream()
                .mapToInt(Integer::intValue)
                .filter(asked -> asked > 0)
                .findFirst();
        return Devices.choose(config.find(ModelConfig.INSTANCE_TYPE), cores, machine);
    }

    /// Loads what models may need on the devices. An engine is loaded where a library needs it. On a CPU
    /// and a GPU it may wait for the first model.
    ///
    /// @param engines of the models; none: they are not known
    /// @throws EngineException when a library can't be loaded
    static Devices prepared(Devices devices, ServerConfig config, List<Engine> engines) {
        var extra = config.find(ModelConfig.EXTRA_LIBRARIES).orElse(List.of());
        if (devices.target().isNeuron() || !extra.isEmpty()) {
            (engines.isEmpty() ? Engine.ALL : engines).forEach(engine -> engine.loadLibraries(devices.target(), extra));
        }
        return devices;
    }

    /// The engines that are certain to be used: those of the files of the artifact, where a model of
    /// the hub has its own in a directory such as `onnx`. What hooks load besides is not known.
    static List<Engine> engines(Path directory) {
        var engines = enginesIn(directory);
        return engines.isEmpty()
                ? Engine.ALL.stream()
                        .flatMap(engine -> engine.hubFormat().stream())
                        .flatMap(form -> enginesIn(directory.resolve(form)).stream())
                        .toList()
                : engines;
    }

    private static List<Engine> enginesIn(Path directory) {
        try (var listed = Files.list(directory)) {
            return listed.filter(Engine::isModel).map(Engine::of).distinct().toList();
        } catch (IOException | EngineException | ModelArtifactException _) {
            // The artifact's own check says what is wrong.
            return List.of();
        }
    }

    /// @throws StartException where there is no such build
    private static Path fitting(ArtifactBuilds builds, Devices devices, Problems problems) throws Exception {
        var build = problems.get(() -> builds.of(devices.target())
                .orElseThrow(() -> new EngineException(
                        "model artifact %1$s has builds for %2$s, and this server uses %3$s (%4$s); add one for %3$s to files in its model.json, or set INSTANCE_TYPE"
                                .formatted(builds.directory(), builds.devices(), devices.target(), devices.origin()))));
        problems.throwAll();
        return build.orElseThrow();
    }

    private static Devices checkTarget(Path directory, Devices devices) {
        var target = ModelJson.ifAny(directory).findTarget();
        if (target.isPresent() && !devices.target().runs(target.get())) {
            throw new EngineException("model artifact %s is traced for %2$s, and this server uses %3$s (%4$s); "
                    .concat("trace it with --target %3$s, or set INSTANCE_TYPE=%2$s")
                    .formatted(directory, target.get(), devices.target(), devices.origin()));
        }
        return devices;
    }

    /// One worker for each device or NeuronCore, which are shared in turn where more are asked for.
    /// On a CPU the profile decides.
    static List<Accelerator> workers(ServerConfig config, Devices devices) {
        var asked = config.find(ModelConfig.WORKERS);
        if (devices.accelerators().getFirst() instanceof Accelerator.Cpu(int cores, var _)) {
            var profile = config.get(ModelConfig.CPU_PROFILE);
            int workers = profile == CpuProfile.LATENCY ? 1 : cores;
            return Collections.nCopies(asked.orElse(workers), new Accelerator.Cpu(cores, profile));
        }
        var accelerators = devices.accelerators();
        return IntStream.range(0, asked.orElse(accelerators.size()))
                .mapToObj(worker -> accelerators.get(worker % accelerators.size()))
                .toList();
    }

    private static BatchLimits limits(ServerConfig config, InferenceHandler<?, ?, ?> handler, Accelerator accelerator) {
        int tokens = accelerator instanceof Accelerator.Gpu ? BATCH_TOKENS : Integer.MAX_VALUE;
        return new BatchLimits(
                config.find(ServingConfig.MAX_BATCH_SIZE).orElseGet(() -> handler.maxBatchSize(accelerator)),
                config.find(ServingConfig.MAX_BATCH_TOKENS).orElse(tokens),
                config.get(ServingConfig.MAX_BATCH_DELAY),
                config.get(ServingConfig.QUEUE_CAPACITY),
                config.get(ServingConfig.TARGET_DELAY));
    }

    /// What has gone wrong so far. Only what the user can put right is collected; anything else is
    /// thrown at once.
    private static final class Problems {

        private final List<RuntimeException> found = new ArrayList<>();

        void throwAll() throws StartException {
            if (!found.isEmpty()) {
                throw new StartException(found);
            }
        }

        <T> Optional<T> get(Callable<T> step) throws Exception {
            try {
                return Optional.of(step.call());
            } catch (ModelArtifactException | EngineException e) {
                found.add(e);
                return Optional.empty();
            }
        }
    }

    /// The room for the sessions of all models.
    public static SessionRoom sessions(ServerConfig config) {
        return new SessionRoom(
                config.get(ServingConfig.MAX_SESSIONS),
                config.find(ServingConfig.SESSION_MEMORY)
                        .orElse(Runtime.getRuntime().maxMemory() / 10));
    }
}
