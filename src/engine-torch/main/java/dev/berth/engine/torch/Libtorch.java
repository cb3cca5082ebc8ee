package dev.berth.engine.torch;

import ai.djl.util.Utils;
import dev.berth.artifact.Target;
import dev.berth.engine.EngineException;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The libraries of PyTorch on the disk, and the functions of them that DJL does not call.
///
/// `PYTORCH_LIBRARY_PATH` names a libtorch in place of the one in the jars. DJL uses its own where
/// there is none, and with another version than its JNI library was made for the process dies in
/// the first forward. So it is checked first.
final class Libtorch {

    private static final Logger log = LoggerFactory.getLogger(Libtorch.class);

    /// The library of the Neuron SDK that runs compiled models inside libtorch. It comes with the
    /// Python package `torch_neuron` (Inf1) or `torch_neuronx` (Inf2, Trn1) and fits the `torch`
    /// beside that package.
    static final String NEURON = "libtorchneuron.so";

    /// `c10::QEngine::QNNPACK`
    static final byte QNNPACK = 2;

    private static final String VARIABLE = "PYTORCH_LIBRARY_PATH";

    /// What DJL's JNI library in the jars was made for.
    private static final String NEEDED = "2.7.";

    /// In pip's `torch/version.py`, and all there is in the `build-version` of PyTorch's own
    /// archives.
    private static final Pattern VERSION = Pattern.compile("(?:^|__version__ = ')(\\d+\\.\\d+\\.\\d+)");

    private Libtorch() {}

    /// The directories of the variable, such as `site-packages/torch/lib`. None where it is not set.
    static List<Path> directories() {
        return Optional.ofNullable(Utils.getEnvOrSystemProperty(VARIABLE)).filter(path -> !path.isEmpty()).stream()
                .flatMap(path -> Stream.of(path.split(File.pathSeparator)))
                .map(Path::of)
                .map(path -> Files.isRegularFile(path) ? path.toAbsolutePath().getParent() : path)
                .toList();
    }

    /// Whether there is one. The image for ONNX files has none.
    static boolean isThere() {
        return !directories().isEmpty() || Libtorch.class.getResource("/native/lib/pytorch.properties") != null;
    }

    /// @throws EngineException when no libtorch is there, or one that the JNI library does not fit
    static void check(List<Path> directories) {
        if (!isThere()) {
            throw new EngineException(
                    "found a TorchScript file, but this image has no libtorch; use the CPU image (docker build .), or export the model with trace.py --format onnx");
        }
        if (directories.isEmpty()) {
            return;
        }
        var libtorch = directories.stream()
                .filter(directory -> Files.isRegularFile(directory.resolve("libtorch.so")))
                .findFirst()
                .orElseThrow(() -> new EngineException(
                        "%s: found no libtorch.so in %s, expected a directory such as torch/lib of torch %sx"
                                .formatted(VARIABLE, directories, NEEDED)));
        var version = Stream.of("version.py", "build-version")
                .map(name -> libtorch.toAbsolutePath().resolveSibling(name))
                .flatMap(Libtorch::version)
                .findFirst();
        boolean bringsItsOwn = Files.exists(libtorch.resolve("libdjl_torch.so"));
        if (!bringsItsOwn && version.isPresent() && !version.get().startsWith(NEEDED)) {
            throw new EngineException(
                    "%s: found libtorch %s in %s, expected %sx, or the libdjl_torch.so that was made for it in the same directory"
                            .formatted(VARIABLE, version.get(), libtorch, NEEDED));
        }
    }

    private static Stream<String> version(Path file) {
        try {
            return VERSION.matcher(Files.readString(file)).results().map(result -> result.group(1));
        } catch (IOException _) {
            return Stream.empty();
        }
    }

    /// Where the library for Neuron is.
    static Path neuron(Target target, List<Path> libtorch) {
        var sdk = target == Target.INF1 ? "torch_neuron" : "torch_neuronx";
        return libtorch.stream()
                .map(lib -> lib.resolve("../..")
                        .resolve(sdk)
                        .resolve("lib")
                        .resolve(NEURON)
                        .normalize())
                .filter(Files::isRegularFile)
                .findFirst()
                .orElseThrow(() -> new EngineException(
                        "%s needs %s of the Python package %s: found it neither in BERTH_EXTRA_LIBRARIES nor beside the torch of %s; point %s at torch/lib of the environment that has the package"
                                .formatted(
                                        target,
                                        NEURON,
                                        sdk,
                                        libtorch.isEmpty() ? VARIABLE + ", which is not set" : libtorch,
                                        VARIABLE)));
    }

    /// A function of the libtorch that is loaded already.
    ///
    /// @param name as the compiler mangles it
    /// @throws NoSuchElementException when this libtorch does not have it
    @SuppressWarnings("restricted")
    static MethodHandle function(String name, FunctionDescriptor type) {
        return Linker.nativeLinker().downcallHandle(SymbolLookup.loaderLookup().findOrThrow(name), type);
    }

    /// Chooses the kernels that compute int8 models which are loaded from now on. libtorch takes X86
    /// on x86-64 and oneDNN on aarch64.
    ///
    /// oneDNN's are wrong in libtorch 2.7.1 on aarch64: each layer computes with a scale for signed
    /// numbers what it has made unsigned, for every shape but the first one. Nothing fails, the
    /// answers are nonsense (pytorch/pytorch#145216). QNNPACK's are right. Neither a variable nor DJL
    /// chooses them.
    ///
    /// @param kernels their number in `c10::QEngine`
    /// @return whether this libtorch has the functions for it
    static boolean useInt8Kernels(byte kernels) {
        try {
            // at::globalContext()
            var context =
                    (MemorySegment) function("_ZN2at13globalContextEv", FunctionDescriptor.of(ValueLayout.ADDRESS))
                            .invokeExact();
            // at::Context::setQEngine(c10::QEngine)
            function(
                            "_ZN2at7Context10setQEngineEN3c107QEngineE",
                            FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_BYTE))
                    .invokeExact(context, kernels);
            return true;
        } catch (NoSuchElementException e) {
            log.warn(
                    "this libtorch does not let its int8 kernels be chosen ({}); int8 models may answer" + " wrongly",
                    e.getMessage());
            return false;
        } catch (Throwable e) {
            throw new IllegalStateException("libtorch's int8 kernels can't be chosen", e);
        }
    }
}
