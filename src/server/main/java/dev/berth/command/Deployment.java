package dev.berth.command;

import dev.berth.artifact.ArtifactBuilds;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.ModelDescription;
import dev.berth.artifact.code.HookCode;
import dev.berth.batching.BatchLimits;
import dev.berth.config.ServerConfig;
import dev.berth.engine.DeviceException;
import dev.berth.engine.Devices;
import dev.berth.engine.Engine;
import dev.berth.engine.EngineException;
import dev.berth.engine.Machine;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.hooks.InferenceHandler;
import dev.berth.serving.ServedModel;
import dev.berth.serving.Workers;
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
public record Deployment(
        Path directory, Devices devices, ArtifactHooks hooks, List<Accelerator> workers, BatchLimits limits) {

    /// On a GPU, where records of like length share a batch.
    private static final int BATCH_TOKENS = 16_384;

    /// Makes hooks of an artifact.
    interface Source {
        ArtifactHooks open(Path directory) throws Exception;
    }

    /// Plans to serve the artifact with the hooks that it asks for.
    ///
    /// @throws StartException with every problem, each on a line
    /// @throws Exception anything that the constructor of the artifact's own handler throws
    public static Deployment plan(ServerConfig config, Machine machine) throws Exception {
        return plan(config, machine, artifact -> open(config, artifact));
    }

    /// Plans to serve given hooks.
    static Deployment plan(ServerConfig config, Machine machine, Source source) throws Exception {
        var problems = new Problems();
        var directory = config.model().directory();
        var devices = prepare(config, machine, engines(directory), problems);
        return plan(config, directory, devices, source, problems);
    }

    /// Plans to serve an artifact beside others, on the devices that were [prepared][#prepare].
    static Deployment plan(ServerConfig config, Path directory, Devices devices) throws Exception {
        return plan(config, directory, Optional.of(devices), artifact -> open(config, artifact), new Problems());
    }

    private static ArtifactHooks open(ServerConfig config, Path directory) throws Exception {
        return ArtifactHooks.open(directory, config.model().program());
    }

    private static Deployment plan(
            ServerConfig config, Path artifact, Optional<Devices> devices, Source source, Problems problems)
            throws Exception {
        var found = problems.get(() -> ArtifactBuilds.read(artifact));
        if (found.isEmpty() || (found.get().isPresent() && devices.isEmpty())) {
            // Which of the builds would be served is not known.
            problems.throwAll();
        }
        var builds = found.orElseThrow();
        var directory = builds.isPresent() ? fitting(builds.get(), devices.orElseThrow(), problems) : artifact;
        if (devices.isPresent()) {
            problems.run(() -> checkTarget(directory, devices.get()));
        }
        // Made before the problems are reported, because it may have some of its own.
        var hooks = problems.get(() -> source.open(directory));
        if (hooks.isPresent() && !problems.found.isEmpty()) {
            HookCode.close(hooks.get().handler());
        }
        problems.throwAll();
        try {
            var workers = workers(config, devices.orElseThrow());
            if (builds.isPresent()) {
                hooks.get()
                        .description()
                        .putFirst(
                                "builds",
                                "%s; this is %s".formatted(builds.get().devices(), artifact.relativize(directory)));
            }
            var limits = limits(config, hooks.orElseThrow().handler(), workers.getFirst());
            return new Deployment(directory.toAbsolutePath().normalize(), devices.get(), hooks.get(), workers, limits);
        } catch (Throwable e) {
            HookCode.close(hooks.orElseThrow().handler());
            throw e;
        }
    }

    /// See [ServedModel#load].
    public void load(ServedModel model, Workers workers, FirstRequest first, SessionRoom sessions) throws Exception {
        model.load(directory, hooks.handler(), workers, limits, first, sessions);
    }

    /// Chooses the devices for models that come later, and loads what they may need.
    ///
    /// @throws StartException with every problem, each on a line
    static Devices prepare(ServerConfig config) throws Exception {
        var problems = new Problems();
        var devices = prepare(config, Machine.current(), Engine.ALL, problems);
        problems.throwAll();
        return devices.orElseThrow();
    }

    private static Optional<Devices> prepare(
            ServerConfig config, Machine machine, List<Engine> engines, Problems problems) throws Exception {
        var model = config.model();
        var devices = problems.get(() -> Devices.choose(model.instanceType(), model.neuronCores(), machine));
        if (devices.isPresent()) {
            problems.run(() -> loadLibraries(model.extraLibraries(), devices.get(), engines));
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

    /// An engine is loaded where a library needs it. On a CPU and a GPU it may wait for the first
    /// model.
    private static void loadLibraries(List<Path> extra, Devices devices, List<Engine> engines) {
        if (devices.target().isNeuron() || !extra.isEmpty()) {
            (engines.isEmpty() ? Engine.ALL : engines).forEach(engine -> engine.loadLibraries(devices.target(), extra));
        }
    }

    /// @throws StartException where there is no such build
    private static Path fitting(ArtifactBuilds builds, Devices devices, Problems problems) throws Exception {
        var build = problems.get(() -> builds.of(devices.target())
                .orElseThrow(() -> new DeviceException(
                        "model artifact %1$s has builds for %2$s, and this server uses %3$s (%4$s); add one for %3$s to files in its model.json, or set INSTANCE_TYPE"
                                .formatted(builds.directory(), builds.devices(), devices.target(), devices.origin()))));
        problems.throwAll();
        return build.orElseThrow();
    }

    private static void checkTarget(Path directory, Devices devices) {
        var target = ModelDescription.read(directory).target();
        if (target.isPresent() && !devices.target().runs(target.get())) {
            throw new DeviceException("model artifact %s is traced for %2$s, and this server uses %3$s (%4$s); "
                    .concat("trace it with --target %3$s, or set INSTANCE_TYPE=%2$s")
                    .formatted(directory, target.get(), devices.target(), devices.origin()));
        }
    }

    /// One worker for each device or NeuronCore, which are shared in turn where more are asked for.
    /// On a CPU the profile decides.
    static List<Accelerator> workers(ServerConfig config, Devices devices) {
        var asked = config.model().workers();
        if (devices.accelerators().getFirst() instanceof Accelerator.Cpu(int cores, var _)) {
            var profile = config.model().cpuProfile();
            int workers = profile == CpuProfile.LATENCY ? 1 : cores;
            return Collections.nCopies(asked.orElse(workers), new Accelerator.Cpu(cores, profile));
        }
        var accelerators = devices.accelerators();
        return IntStream.range(0, asked.orElse(accelerators.size()))
                .mapToObj(worker -> accelerators.get(worker % accelerators.size()))
                .toList();
    }

    private static BatchLimits limits(ServerConfig config, InferenceHandler<?, ?, ?> handler, Accelerator accelerator) {
        var batching = config.batching();
        return new BatchLimits(
                batching.maxBatchSize().orElse(handler.maxBatchSize(accelerator)),
                batching.maxBatchTokens()
                        .orElse(accelerator instanceof Accelerator.Gpu ? BATCH_TOKENS : Integer.MAX_VALUE),
                batching.maxBatchDelay(),
                batching.queueCapacity(),
                batching.targetDelay());
    }

    /// What has gone wrong so far. Only what the user can put right is collected; anything else is
    /// thrown at once.
    private static final class Problems {

        private final List<RuntimeException> found = new ArrayList<>();

        void run(Runnable step) throws Exception {
            get(() -> {
                step.run();
                return step;
            });
        }

        void throwAll() throws StartException {
            if (!found.isEmpty()) {
                throw new StartException(found);
            }
        }

        <T> Optional<T> get(Callable<T> step) throws Exception {
            try {
                return Optional.of(step.call());
            } catch (DeviceException | ModelArtifactException | EngineException e) {
                found.add(e);
                return Optional.empty();
            }
        }
    }

    /// The room for the sessions of all models.
    public static SessionRoom sessions(ServerConfig config) {
        return new SessionRoom(
                config.sessions().most(),
                config.sessions().bytes().orElse(Runtime.getRuntime().maxMemory() / 10));
    }
}
