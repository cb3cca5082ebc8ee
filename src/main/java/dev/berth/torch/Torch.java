package dev.berth.torch;

import ai.djl.engine.Engine;
import ai.djl.pytorch.jni.JniUtils;

/// The engine: libtorch, loaded once per process.
///
/// A forward runs on as many cores as are idle: all of them for a lone request, one each when every worker is busy.
/// On a CPU that layout gains half as much again over threads that fight for the same cores.
final class Torch {

  private static final String NAME = "PyTorch";

  private Torch() {}

  static Engine engine() {
    return Holder.ENGINE;
  }

  static int gpus() {
    return engine().getGpuCount();
  }

  /// Sets how many cores the calling thread's next operations use. libtorch keeps this per thread once the thread has
  /// run its first parallel operation.
  static void useCores(int cores) {
    JniUtils.setNumThreads(cores);
  }

  private static final class Holder {
    static final Engine ENGINE = start();

    private static Engine start() {
      // The launcher sets these too; here they hold for whoever starts the JVM another way. Nothing is downloaded and
      // nobody is called when the engine starts.
      System.setProperty("ai.djl.offline", "true");
      System.setProperty("OPT_OUT_TRACKING", "true");
      System.setProperty("ai.djl.pytorch.num_interop_threads", "1");
      System.setProperty("ai.djl.pytorch.num_threads", "1");
      return Engine.getEngine(NAME);
    }
  }
}
