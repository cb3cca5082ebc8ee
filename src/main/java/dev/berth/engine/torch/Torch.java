package dev.berth.engine.torch;

import ai.djl.engine.Engine;
import ai.djl.engine.EngineException;
import ai.djl.pytorch.jni.JniUtils;
import dev.berth.artifact.Target;
import java.nio.file.Path;
import java.util.List;

/// The engine: libtorch, loaded once per process, and the libraries that bring it more operators.
///
/// libtorch has the threads of one core unless a forward asks for more.
public final class Torch {

  private static final String NAME = "PyTorch";

  static {
    // The launcher sets these too; here they hold for whoever starts the JVM another way. Nothing is downloaded and
    // nobody is called when the engine starts.
    System.setProperty("ai.djl.offline", "true");
    System.setProperty("OPT_OUT_TRACKING", "true");
    System.setProperty("ai.djl.pytorch.num_interop_threads", "1");
    System.setProperty("ai.djl.pytorch.num_threads", "1");
  }

  private Torch() {}

  /// Loads libtorch, then what models for `target` need besides, then `libraries` of operators that a TorchScript may
  /// use. What is loaded already stays as it is.
  ///
  /// @throws TorchException when a library is not there or can't be loaded
  public static void load(Target target, List<Path> libraries) {
    engine();
    if (target.isNeuron() && libraries.stream().noneMatch(library -> library.endsWith(NeuronLibrary.NAME))) {
      load(NeuronLibrary.find(target, ChosenLibtorch.directories()));
    }
    libraries.forEach(Torch::load);
  }

  // Native access is what this class is for; the launcher allows it.
  @SuppressWarnings("restricted")
  private static void load(Path library) {
    try {
      System.load(library.toAbsolutePath().toString());
    } catch (UnsatisfiedLinkError e) {
      throw new TorchException("%s can't be loaded beside libtorch: %s".formatted(library, EngineMessage.of(e)), e);
    }
  }

  /// Begins to load libtorch on a thread of its own. Whoever needs the engine next waits for that, and is told what went
  /// wrong.
  ///
  /// The process is to end by a halt from now on: an exit would tear libtorch down while it is set up.
  public static void preload() {
    Thread.ofPlatform().name("berth-engine").daemon().start(Started::await);
  }

  public static Engine engine() {
    if (Started.ENGINE == null) {
      throw Started.PROBLEM;
    }
    return Started.ENGINE;
  }

  /// The GPUs that libtorch can use.
  public static int gpus() {
    return engine().getGpuCount();
  }

  /// Sets how many cores the calling thread's next operations use. libtorch keeps this per thread once the thread has
  /// run its first parallel operation.
  static void useCores(int cores) {
    JniUtils.setNumThreads(cores);
  }

  /// Gives back what the GPU's allocator keeps, so that a batch that was too large leaves no trace.
  static void freeGpuMemory() {
    JniUtils.emptyCudaCache();
  }

  /// The engine, or why it does not start. A second attempt would fail for another reason, because the first one has left
  /// half of it behind.
  private static final class Started {
    static final Engine ENGINE;
    static final TorchException PROBLEM;

    static {
      Engine engine = null;
      TorchException problem = null;
      try {
        ChosenLibtorch.check(ChosenLibtorch.directories());
        engine = Engine.getEngine(NAME);
        if (System.getProperty("os.arch").equals("aarch64")) {
          QuantizedEngine.QNNPACK.use();
        }
      } catch (TorchException e) {
        problem = e;
      } catch (EngineException e) {
        problem = new TorchException("libtorch can't be loaded: " + EngineMessage.ofCause(e), e);
      }
      ENGINE = engine;
      PROBLEM = problem;
    }

    /// Returns when this class is initialised.
    static void await() {}
  }
}
