package dev.berth;

import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.Shapes;
import dev.berth.artifact.Target;
import dev.berth.batching.BatchLimits;
import dev.berth.config.ServerConfig;
import dev.berth.device.DeviceException;
import dev.berth.device.Devices;
import dev.berth.device.Machine;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.model.HandlerFactory;
import dev.berth.qa.QuestionAnsweringHandler;
import dev.berth.torch.Torch;
import dev.berth.torch.TorchException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/// What is served, and on what. Planning one finds everything that is wrong short of loading the model, and says all of
/// it at once.
///
/// @param artifact the model artifact of a built-in handler; hooks of one's own read theirs as they like
/// @param handlers gives the hooks, which a built-in handler's are made already; whoever calls it closes them
/// @param workers the accelerator of each worker
record Deployment(
    Devices devices,
    Optional<ModelArtifact> artifact,
    HandlerFactory handlers,
    List<Accelerator> workers,
    BatchLimits limits) {

  private static final int BATCH_SIZE = 32;
  private static final int BATCH_TOKENS = 16_384;

  /// Plans to serve the artifact with its built-in handler.
  ///
  /// @throws StartException with every problem, each on a line
  static Deployment plan(ServerConfig config) throws StartException {
    var problems = new Problems();
    var devices = problems.get(() -> devices(config));
    var artifact = problems.get(() -> ModelArtifact.open(config.model().directory()));
    devices.ifPresent(found -> {
      problems.run(() -> loadLibraries(config, found));
      artifact.ifPresent(traced -> problems.run(() -> checkTarget(traced, found)));
    });
    // Made before the problems are reported, because it may have some of its own.
    var handler = artifact.flatMap(found -> problems.get(() -> builtIn(found)));
    if (!problems.found.isEmpty()) {
      handler.ifPresent(QuestionAnsweringHandler::close);
      throw new StartException(problems.found);
    }
    return new Deployment(
        devices.orElseThrow(),
        artifact,
        _ -> handler.orElseThrow(),
        workers(config, devices.get()),
        limits(config, devices.get(), artifact));
  }

  /// Plans to serve hooks of one's own.
  static Deployment plan(ServerConfig config, HandlerFactory handlers) {
    var devices = devices(config);
    if (devices.target().isNeuron() || !config.model().extraLibraries().isEmpty()) {
      loadLibraries(config, devices);
    }
    return new Deployment(
        devices, Optional.empty(), handlers, workers(config, devices), limits(config, devices, Optional.empty()));
  }

  private static Devices devices(ServerConfig config) {
    return Devices.choose(config.model().instanceType(), config.model().neuronCores(), Machine.current());
  }

  private static void loadLibraries(ServerConfig config, Devices devices) {
    Torch.load(devices.target(), config.model().extraLibraries());
  }

  private static void checkTarget(ModelArtifact artifact, Devices devices) {
    if (!devices.target().runs(artifact.target())) {
      throw new DeviceException(
          "model artifact %s is traced for %2$s, and this server uses %3$s (%4$s); "
              .concat("trace it with --target %3$s, or set INSTANCE_TYPE=%2$s")
              .formatted(artifact.directory(), artifact.target(), devices.target(), devices.origin()));
    }
  }

  private static QuestionAnsweringHandler builtIn(ModelArtifact artifact) {
    return switch (artifact.task()) {
      case "question-answering" -> new QuestionAnsweringHandler(artifact);
      default -> throw new ModelArtifactException(artifact.directory(), List.of(
          "model.json: task: found \"%s\", expected \"question-answering\"".formatted(artifact.task())));
    };
  }

  /// One worker for each device or NeuronCore, which are shared in turn where more are asked for. On a CPU the profile
  /// decides.
  private static List<Accelerator> workers(ServerConfig config, Devices devices) {
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

  /// A compiled model takes a fixed number of records, and more would only wait while other workers are free. A CPU gains
  /// nothing from batches; a GPU lives on them.
  private static BatchLimits limits(ServerConfig config, Devices devices, Optional<ModelArtifact> artifact) {
    boolean cpu = devices.target() == Target.CPU;
    var shapes = artifact.map(ModelArtifact::shapes).orElse(null);
    int size = shapes instanceof Shapes.Compiled compiled ? compiled.largestBatch() : cpu ? 1 : BATCH_SIZE;
    boolean unbounded = cpu || shapes instanceof Shapes.Compiled;
    var batching = config.batching();
    return new BatchLimits(
        batching.maxBatchSize().orElse(size),
        batching.maxBatchTokens().orElse(unbounded ? Integer.MAX_VALUE : BATCH_TOKENS),
        batching.maxBatchDelay(),
        batching.queueCapacity());
  }

  /// What has gone wrong so far. Only what the user can put right is collected; anything else is thrown at once.
  private static final class Problems {

    private final List<RuntimeException> found = new ArrayList<>();

    void run(Runnable step) {
      get(() -> {
        step.run();
        return step;
      });
    }

    <T> Optional<T> get(Supplier<T> step) {
      try {
        return Optional.of(step.get());
      } catch (DeviceException | ModelArtifactException | TorchException e) {
        found.add(e);
        return Optional.empty();
      }
    }
  }
}
