package dev.berth.engine.torch;

import ai.djl.Device;
import ai.djl.MalformedModelException;
import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.pytorch.engine.PtNDArray;
import ai.djl.pytorch.engine.PtNDManager;
import ai.djl.pytorch.engine.PtSymbolBlock;
import ai.djl.pytorch.jni.IValue;
import ai.djl.pytorch.jni.IValueUtils;
import ai.djl.pytorch.jni.JniUtils;
import dev.berth.engine.EngineException;
import dev.berth.engine.EngineGraph;
import dev.berth.engine.GraphNames;
import dev.berth.engine.KeptTensor;
import dev.berth.engine.cores.Cores;
import dev.berth.engine.cores.HelperThreads;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.InsufficientMemoryException;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import java.util.regex.Pattern;

/// One TorchScript file on one accelerator. Every native object that a forward makes is freed
/// before it returns.
final class TorchGraph implements EngineGraph {

    /// What TorchScript's reader says of code that needs a library.
    private static final Pattern UNKNOWN_OPERATOR =
            Pattern.compile("Unknown builtin op|Unknown type name '__torch__\\.torch\\.classes");

    private final Model model;
    private final Accelerator accelerator;

    private final Cores cores = new Cores(HelperThreads.LIBGOMP);

    private final GraphNames names;
    private volatile List<String> outputNames;

    /// Loads `file` with libtorch, which is there already.
    TorchGraph(Path file, Accelerator accelerator) {
        this.model = Model.newInstance(file.getFileName().toString(), device(accelerator));
        this.accelerator = accelerator;
        boolean isLoaded = false;
        try {
            model.load(file.toAbsolutePath().getParent(), file.getFileName().toString(), Map.of("mapLocation", "true"));
            JniUtils.enableInferenceMode((PtSymbolBlock) model.getBlock());
            this.names = TorchNames.of(file);
            isLoaded = true;
        } catch (IOException | MalformedModelException | ai.djl.engine.EngineException e) {
            if (TorchFailure.isShortage(e)) {
                throw new InsufficientMemoryException(
                        "there is no memory left for %s on %s: %s"
                                .formatted(file.getFileName(), accelerator, TorchFailure.message(e)),
                        e);
            }
            throw new EngineException("%s can't be loaded as TorchScript: %s".formatted(file, reason(file, e)), e);
        } finally {
            if (!isLoaded) {
                close();
            }
        }
        this.outputNames = names.outputNames();
    }

    /// What to do about an operator or a class that no loaded library has, else what the engine says.
    private static String reason(Path file, Exception e) {
        var message = TorchFailure.message(e);
        var other = TorchFile.otherFormat(file);
        if (other.isPresent()) {
            return other.get();
        }
        if (String.valueOf(e.getMessage()).contains("torch.classes.neuron")) {
            return "it is compiled for Neuron; serve it on that instance type, with %s (%s)"
                    .formatted(Libtorch.NEURON, message);
        }
        if (UNKNOWN_OPERATOR.matcher(message).find()) {
            return message + "; name the library that has it with --extra-libraries or BERTH_EXTRA_LIBRARIES";
        }
        return message;
    }

    @Override
    public List<String> inputNames() {
        return names.inputNames();
    }

    @Override
    public List<String> outputNames() {
        return outputNames;
    }

    @Override
    public List<Tensor> forward(List<Tensor> inputs, List<KeptTensor> kept, int mostCores) {
        var own = KeptTensor.all(kept, TorchKept.class);
        return accelerator instanceof Accelerator.Cpu cpu
                ? cores.run(
                        cpu, mostCores, inputs.stream().mapToLong(Tensor::size).sum(), threads -> {
                            // It is kept per thread once the thread has run its first parallel operation.
                            JniUtils.setNumThreads(threads);
                            return run(inputs, own);
                        })
                : run(inputs, own);
    }

    @Override
    public KeptTensor keep(Tensor tensor) {
        var manager = model.getNDManager();
        return new TorchKept((PtNDArray) TensorCopy.in(tensor, manager), manager);
    }

    /// As the block's own `forward`, which leaves the native values of the inputs behind where the
    /// model fails: some 400 bytes each, and what the tensors hold. Everything native is freed, but
    /// for what is kept.
    private List<Tensor> run(List<Tensor> inputs, List<TorchKept> kept) {
        try (var manager = (PtNDManager) model.getNDManager().newSubManager()) {
            var values = new ArrayList<IValue>(inputs.size() + 1);
            try {
                inputs.forEach(input -> values.add(IValue.from((PtNDArray) TensorCopy.in(input, manager))));
                if (!kept.isEmpty()) {
                    values.add(
                            IValue.listFrom(kept.stream().map(TorchKept::array).toArray(PtNDArray[]::new)));
                }
                try (var results =
                        IValueUtils.forward((PtSymbolBlock) model.getBlock(), values.toArray(IValue[]::new))) {
                    return readable(results, () -> outputs(results, kept, manager));
                }
            } finally {
                values.forEach(IValue::close);
            }
        } catch (ai.djl.engine.EngineException e) {
            var failure = TorchFailure.of(e);
            if (failure instanceof InsufficientMemoryException) {
                freeGpuMemory();
            }
            throw failure;
        }
    }

    /// What can't be read is the model's failure, for other inputs too.
    private static List<Tensor> readable(IValue results, Supplier<List<Tensor>> read) {
        try {
            return read.get();
        } catch (ai.djl.engine.EngineException
                | UnsupportedOperationException
                | IllegalArgumentException
                | IllegalStateException e) {
            throw TorchFailure.isOfDevice(e)
                    ? e
                    : new EngineException(
                            "the model returned %s, expected dense tensors of numbers, alone or in a tuple, list or dict"
                                    .formatted(results.getType()),
                            e);
        }
    }

    private List<Tensor> outputs(IValue result, List<TorchKept> kept, PtNDManager manager) {
        if (!kept.isEmpty()) {
            return withState(result, kept, manager);
        }
        var results = result.toNDList(manager).stream()
                .sorted(Comparator.comparing(TorchGraph::key))
                .toList();
        var keys = results.stream()
                .map(TorchGraph::key)
                .filter(key -> !key.isEmpty())
                .toList();
        if (!keys.equals(outputNames)) {
            outputNames = keys;
        }
        return results.stream().map(TensorCopy::out).toList();
    }

    /// The outputs of a model with a state, whose new one takes the place of `kept`.
    private static List<Tensor> withState(IValue result, List<TorchKept> kept, PtNDManager manager) {
        var parts = result.isTuple() ? result.toIValueTuple() : new IValue[0];
        try {
            var last = parts.length == 0 || !parts[parts.length - 1].isTensorList()
                    ? new PtNDArray[0]
                    : parts[parts.length - 1].toTensorArray(manager);
            if (last.length != kept.size()) {
                throw new EngineException(
                        "the model returned a list of %d tensors at the end, expected %d, as many as it was given"
                                .formatted(last.length, kept.size()));
            }
            var outputs = Arrays.stream(parts, 0, parts.length - 1)
                    .map(part -> TensorCopy.out(part.toTensor(manager)))
                    .toList();
            for (int i = 0; i < last.length; i++) {
                kept.get(i).become(last[i]);
            }
            return outputs;
        } finally {
            Arrays.stream(parts).forEach(IValue::close);
        }
    }

    /// The key of a dict's tensor; the same for all others, so that sorting leaves them as they are.
    private static String key(NDArray result) {
        return Objects.requireNonNullElse(result.getName(), "");
    }

    @Override
    public void close() {
        model.close();
        freeGpuMemory();
    }

    /// The GPU's allocator keeps what is freed. Another process, or a look at the free memory, would
    /// not see it as free.
    private void freeGpuMemory() {
        if (accelerator instanceof Accelerator.Gpu) {
            JniUtils.emptyCudaCache();
        }
    }

    /// A Neuron trace takes CPU tensors and moves them to its core itself.
    private static Device device(Accelerator accelerator) {
        return accelerator instanceof Accelerator.Gpu(int index) ? Device.gpu(index) : Device.cpu();
    }
}
