package dev.berth.engine.torch;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.NoSuchElementException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Which kernels compute int8 models. libtorch takes X86 on x86-64 and oneDNN on aarch64.
///
/// oneDNN's are wrong in libtorch 2.7.1 on aarch64: each layer computes with a scale for signed
/// numbers what it has made unsigned, for every shape but the first one that it meets. Nothing
/// fails, the answers are nonsense (pytorch/pytorch#145216). QNNPACK's are right. Neither a
/// variable nor DJL chooses them, so libtorch is called.
enum QuantizedEngine {
  QNNPACK(2),
  X86(4);

  private static final Logger log = LoggerFactory.getLogger(QuantizedEngine.class);

  /// The number in libtorch's `c10::QEngine`.
  private final byte number;

  QuantizedEngine(int number) {
    this.number = (byte) number;
  }

  /// Makes every model that is loaded from now on use these kernels, with the libtorch that is
  /// loaded already.
  ///
  /// @return whether this libtorch has the functions for it
  boolean use() {
    try {
      // at::globalContext()
      var context =
          (MemorySegment)
              Libtorch.function(
                      "_ZN2at13globalContextEv", FunctionDescriptor.of(ValueLayout.ADDRESS))
                  .invokeExact();
      // at::Context::setQEngine(c10::QEngine)
      Libtorch.function(
              "_ZN2at7Context10setQEngineEN3c107QEngineE",
              FunctionDescriptor.ofVoid(ValueLayout.ADDRESS, ValueLayout.JAVA_BYTE))
          .invokeExact(context, number);
      return true;
    } catch (NoSuchElementException e) {
      log.warn(
          "this libtorch does not let its int8 kernels be chosen ({}); int8 models may answer wrongly",
          e.getMessage());
      return false;
    } catch (Throwable e) {
      throw new IllegalStateException("libtorch's int8 kernels can't be chosen", e);
    }
  }
}
