package dev.berth.engine.torch;

import ai.djl.Device;
import ai.djl.util.cuda.CudaUtils;
import dev.berth.artifact.Target;
import dev.berth.artifact.code.Thrown;
import dev.berth.engine.Engine;
import dev.berth.engine.EngineException;
import dev.berth.engine.EngineGraph;
import dev.berth.engine.GraphNames;
import dev.berth.hooks.Accelerator;
import dev.berth.memory.Footprint;
import dev.berth.memory.MemoryReading;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/// libtorch, loaded once per process, and the libraries that bring it more operators.
///
/// Its operations use one core, unless a forward asks for more.
public final class Torch implements Engine {

    static {
        // The launcher sets these too; here they hold for whoever starts the JVM another way. Nothing
        // is downloaded and nobody is called when the engine starts.
        System.setProperty("ai.djl.offline", "true");
        System.setProperty("OPT_OUT_TRACKING", "true");
        System.setProperty("ai.djl.pytorch.num_interop_threads", "1");
        System.setProperty("ai.djl.pytorch.num_threads", "1");
    }

    @Override
    public String name() {
        return "pytorch";
    }

    @Override
    public boolean reads(Path file) {
        // The last one is never a TorchScript; loading it says what to save instead.
        return Stream.of(".pt", ".pth", ".pt2").anyMatch(file.toString()::endsWith);
    }

    @Override
    public GraphNames names(Path file) {
        return TorchNames.of(file);
    }

    @Override
    public void preload() {
        Thread.ofPlatform().name("berth-engine").daemon().start(() -> Objects.requireNonNull(Started.ONCE));
    }

    @Override
    public void loadLibraries(Target target, List<Path> libraries) {
        if (!Libtorch.isThere()) {
            return;
        }
        engine();
        if (target.isNeuron() && libraries.stream().noneMatch(library -> library.endsWith(Libtorch.NEURON))) {
            load(Libtorch.neuron(target, Libtorch.directories()));
        }
        libraries.forEach(Torch::load);
    }

    @Override
    public int gpus() {
        return Libtorch.isThere() ? engine().getGpuCount() : 0;
    }

    @Override
    public Footprint footprint(Path file) {
        return TorchFile.footprint(file);
    }

    @Override
    public Optional<MemoryReading> memory(Accelerator accelerator) {
        if (!(accelerator instanceof Accelerator.Gpu(int index))) {
            return Optional.empty();
        }
        engine();
        var usage = CudaUtils.getGpuMemory(Device.gpu(index));
        return Optional.of(new MemoryReading(usage.getMax() - usage.getUsed(), usage.getMax(), accelerator.toString()));
    }

    @Override
    public EngineGraph load(Path file, Accelerator accelerator) {
        engine();
        return new TorchGraph(file, accelerator);
    }

    // Native access is what this class is for; the launcher allows it.
    @SuppressWarnings("restricted")
    private static void load(Path library) {
        try {
            System.load(library.toAbsolutePath().toString());
        } catch (UnsatisfiedLinkError e) {
            throw new EngineException(
                    "%s can't be loaded beside libtorch: %s".formatted(library, TorchFailure.message(e)), e);
        }
    }

    private static ai.djl.engine.Engine engine() {
        if (Started.ONCE.problem != null) {
            throw Started.ONCE.problem;
        }
        return Started.ONCE.engine;
    }

    /// The engine, or why it does not start. A second attempt would fail for another reason, because
    /// the first one has left half of it behind.
    private record Started(ai.djl.engine.Engine engine, EngineException problem) {

        static final Started ONCE = start();

        private static Started start() {
            try {
                Libtorch.check(Libtorch.directories());
                var engine = ai.djl.engine.Engine.getEngine("PyTorch");
                if (System.getProperty("os.arch").equals("aarch64")) {
                    Libtorch.useInt8Kernels(Libtorch.QNNPACK);
                }
                return new Started(engine, null);
            } catch (EngineException e) {
                return new Started(null, e);
            } catch (ai.djl.engine.EngineException e) {
                var first = Thrown.chain(e).reduce(e, (_, cause) -> cause);
                return new Started(
                        null, new EngineException("libtorch can't be loaded: " + TorchFailure.message(first), e));
            }
        }
    }
}
