package dev.berth.engine.onnx;

import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtLoggingLevel;
import dev.berth.artifact.Target;
import dev.berth.artifact.code.Thrown;
import dev.berth.engine.Engine;
import dev.berth.engine.EngineException;
import dev.berth.engine.EngineGraph;
import dev.berth.engine.GraphNames;
import dev.berth.hooks.Accelerator;
import dev.berth.memory.Footprint;
import java.lang.foreign.Arena;
import java.lang.foreign.SymbolLookup;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;

/// ONNX Runtime, loaded once per process, and the libraries that bring it more operators. It runs
/// models on the CPU, and on NVIDIA GPUs where `onnxruntime.native.path` names a build for CUDA.
public final class Onnx implements Engine {

    /// The libraries that have operators for ONNX Runtime, which each model is told of.
    private final Set<Path> operators = new ConcurrentSkipListSet<>();

    @Override
    public String name() {
        return "onnx";
    }

    @Override
    public boolean reads(Path file) {
        return file.toString().endsWith(".onnx");
    }

    @Override
    public Optional<String> hubFormat() {
        return Optional.of(name());
    }

    @Override
    public GraphNames names(Path file) {
        return OnnxFile.names(file);
    }

    @Override
    public void preload() {
        Thread.ofPlatform().name("berth-engine").daemon().start(() -> Objects.requireNonNull(Started.ONCE));
    }

    // Native access is what this class is for; the launcher allows it.
    @Override
    @SuppressWarnings("restricted")
    public void loadLibraries(Target target, List<Path> libraries) {
        environment();
        for (var library : libraries) {
            var path = library.toAbsolutePath();
            try {
                System.load(path.toString());
            } catch (UnsatisfiedLinkError e) {
                throw new EngineException(
                        "%s can't be loaded beside ONNX Runtime: %s".formatted(library, OnnxFailure.line(e)), e);
            }
            // Others may have operators of libtorch, or be what such a library needs.
            if (SymbolLookup.libraryLookup(path, Arena.global())
                    .find("RegisterCustomOps")
                    .isPresent()) {
                operators.add(path);
            }
        }
    }

    @Override
    public int gpus() {
        return OnnxLibraries.haveCuda() ? CudaDriver.devices() : 0;
    }

    @Override
    public Footprint footprint(Path file) {
        return OnnxFile.footprint(file);
    }

    @Override
    public EngineGraph load(Path file, Accelerator accelerator) {
        var missing = switch (accelerator) {
            case Accelerator.Cpu _ -> null;
            case Accelerator.Gpu _ when OnnxLibraries.haveCuda() -> null;
            case Accelerator.Gpu _ ->
                "this ONNX Runtime has no CUDA; name the libraries of onnxruntime_gpu with "
                        + "JAVA_OPTS=-Donnxruntime.native.path=DIR, or set INSTANCE_TYPE=cpu";
            default -> "ONNX Runtime does not run there; set INSTANCE_TYPE=cpu";
        };
        if (missing != null) {
            throw new EngineException("%s can't be loaded on %s: %s".formatted(file, accelerator, missing));
        }
        return new OnnxGraph(environment(), file, accelerator, List.copyOf(operators));
    }

    private static OrtEnvironment environment() {
        if (Started.ONCE.problem != null) {
            throw Started.ONCE.problem;
        }
        return Started.ONCE.environment;
    }

    /// The library, or why it can't be loaded.
    private record Started(OrtEnvironment environment, EngineException problem) {

        static final Started ONCE = start();

        private static Started start() {
            try {
                // What fails is thrown too, so stderr need not have it.
                var environment = OrtEnvironment.getEnvironment(OrtLoggingLevel.ORT_LOGGING_LEVEL_FATAL, "berth");
                environment.setTelemetry(false);
                return new Started(environment, null);
            } catch (OrtException | LinkageError | IllegalStateException e) {
                var first = Thrown.chain(e).reduce(e, (_, cause) -> cause);
                // ONNX Runtime looks for the library elsewhere where it could not write all of it.
                boolean isNotUnpacked = first instanceof FileSystemException
                        || String.valueOf(first.getMessage()).contains("java.library.path");
                var cure = isNotUnpacked
                        ? "; it needs a directory that can be written: mount one at /tmp, or name one with JAVA_OPTS=-Djava.io.tmpdir=DIR"
                        : "";
                return new Started(
                        null,
                        new EngineException("ONNX Runtime can't be loaded: " + OnnxFailure.line(first) + cure, e));
            } finally {
                OnnxLibraries.deleteUnpacked();
            }
        }
    }
}
