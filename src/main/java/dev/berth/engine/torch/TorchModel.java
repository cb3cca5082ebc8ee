package dev.berth.engine.torch;

import ai.djl.Device;
import ai.djl.MalformedModelException;
import ai.djl.Model;
import ai.djl.engine.EngineException;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.training.ParameterStore;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.InsufficientMemoryException;
import dev.berth.hooks.ModelUnusableException;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// One TorchScript file on one accelerator. Every native object that a forward makes is freed before it returns.
///
/// [#forward] may be called by several threads at once. Call it from a small fixed set of platform threads only, because libtorch
/// keeps memory for each thread that calls it. A forward on several cores runs on a thread of its own meanwhile.
public final class TorchModel implements AutoCloseable {

  /// Of this process.
  private static final CoreShares CORES = new CoreShares(System::nanoTime);

  /// What TorchScript's reader says of code that needs a library.
  private static final Pattern UNKNOWN_OPERATOR =
      Pattern.compile("Unknown builtin op|Unknown type name '__torch__\\.torch\\.classes");

  private final Model model;
  private final Accelerator accelerator;
  private final Speedup speedup = new Speedup();

  /// Held by the first forward, in which the engine switches the module to inference without a lock of its own.
  private final Object switching = new Object();
  private volatile boolean switched;

  private TorchModel(Model model, Accelerator accelerator) {
    this.model = model;
    this.accelerator = accelerator;
  }

  /// Loads `file` onto `accelerator`.
  ///
  /// @throws TorchException when the file is missing, damaged or needs operators that are not there
  public static TorchModel load(Path file, Accelerator accelerator) {
    Torch.engine();
    var model = Model.newInstance(file.getFileName().toString(), device(accelerator));
    try {
      model.load(file.toAbsolutePath().getParent(), file.getFileName().toString(),
          Map.of("mapLocation", "true"));
      return new TorchModel(model, accelerator);
    } catch (IOException | MalformedModelException | EngineException e) {
      model.close();
      throw new TorchException("%s can't be loaded as TorchScript: %s".formatted(file, reason(e)), e);
    }
  }

  /// What to do about an operator or a class that no loaded library has, else what the engine says.
  private static String reason(Exception e) {
    var message = EngineMessage.of(e);
    if (String.valueOf(e.getMessage()).contains("torch.classes.neuron")) {
      return "it is compiled for Neuron; serve it on that instance type, with %s (%s)".formatted(NeuronLibrary.NAME, message);
    }
    if (UNKNOWN_OPERATOR.matcher(message).find()) {
      return message + "; name the library that has it with --extra-libraries or BERTH_EXTRA_LIBRARIES";
    }
    return message;
  }

  /// Runs the model on all cores, or on its share where other forwards want some.
  ///
  /// @see #forward(List, int)
  public List<Tensor> forward(List<Tensor> inputs) {
    return forward(inputs, Integer.MAX_VALUE);
  }

  /// Runs the model.
  ///
  /// @param inputs one for each parameter of the model's `forward`, in their order. Of `int16` they become `int32`, as
  ///     the engine can't make the former
  /// @param mostCores on a CPU, the most cores that it is worth
  /// @return what `forward` returns: the tensors of a tuple or a list in their order, those of a dict in that of their
  ///     keys, as the engine does not keep the dict's. What it has no type for, such as `bfloat16`, becomes `float32`
  /// @throws InsufficientMemoryException when the device has no memory for these shapes
  /// @throws ModelUnusableException when the device has failed for good
  /// @throws TorchException when the model refuses its inputs
  /// @throws UnsupportedOperationException when it returns what is no dense tensor of real numbers, or none of those
  public List<Tensor> forward(List<Tensor> inputs, int mostCores) {
    return accelerator instanceof Accelerator.Cpu cpu ? forward(inputs, cpu, mostCores) : run(inputs);
  }

  private List<Tensor> forward(List<Tensor> inputs, Accelerator.Cpu cpu, int mostCores) {
    var share = CORES.begin(cpu.cores(), switch (cpu.profile()) {
      case ADAPTIVE -> speedup.isWorthwhile() ? mostCores : 1;
      case LATENCY -> cpu.cores();
      case THROUGHPUT -> 1;
    });
    try {
      long begin = System.nanoTime();
      var outputs = share.run(() -> run(inputs));
      if (mostCores > 1) {
        speedup.record(share.cores(), inputs.stream().mapToLong(Tensor::size).sum(), System.nanoTime() - begin);
      }
      return outputs;
    } finally {
      CORES.end(share);
    }
  }

  private List<Tensor> run(List<Tensor> inputs) {
    try (var manager = model.getNDManager().newSubManager()) {
      var arrays = new NDList(inputs.size());
      inputs.forEach(input -> arrays.add(TensorCopy.in(input, manager)));
      var results = run(new ParameterStore(manager, false), arrays);
      return results.stream()
          .sorted(Comparator.comparing(TorchModel::key))
          .map(TensorCopy::out)
          .toList();
    } catch (EngineException e) {
      var translated = translate(e);
      if (translated instanceof InsufficientMemoryException && accelerator instanceof Accelerator.Gpu) {
        Torch.freeGpuMemory();
      }
      throw translated;
    }
  }

  private NDList run(ParameterStore parameters, NDList inputs) {
    if (!switched) {
      synchronized (switching) {
        if (!switched) {
          var results = model.getBlock().forward(parameters, inputs, false);
          switched = true;
          return results;
        }
      }
    }
    return model.getBlock().forward(parameters, inputs, false);
  }

  /// The key of a dict's tensor; the same for all others, so that sorting leaves them as they are.
  private static String key(NDArray result) {
    return Objects.requireNonNullElse(result.getName(), "");
  }

  @Override
  public void close() {
    model.close();
  }

  /// The engine reports everything as one type of exception, so its text is all there is to tell these apart by.
  private static RuntimeException translate(EngineException e) {
    var message = EngineMessage.of(e);
    if (Stream.of("out of memory", "can't allocate memory", "not enough memory", "ALLOC_FAILED").anyMatch(message::contains)) {
      return new InsufficientMemoryException("the accelerator has no memory left for this batch: " + message, e);
    }
    if (Stream.of("CUDA error", "NRT", "nrt_").anyMatch(message::contains)) {
      return new ModelUnusableException("the accelerator has failed: " + message, e);
    }
    return new TorchException("the model failed: " + message, e);
  }

  private static Device device(Accelerator accelerator) {
    return switch (accelerator) {
      case Accelerator.Gpu(int index) -> Device.gpu(index);
      // A Neuron trace takes CPU tensors and moves them to its core itself.
      case Accelerator.Cpu(int _, var _), Accelerator.Inf1(int _), Accelerator.Inf2(int _), Accelerator.Trn1(int _) -> Device.cpu();
    };
  }
}
