package dev.berth.engine.torch;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/// Functions of the libtorch that is loaded already, for what DJL does not ask it.
final class Libtorch {

  private Libtorch() {}

  /// @param name as the compiler mangles it
  /// @throws java.util.NoSuchElementException when this libtorch does not have it
  @SuppressWarnings("restricted")
  static MethodHandle function(String name, FunctionDescriptor type) {
    return Linker.nativeLinker()
        .downcallHandle(SymbolLookup.loaderLookup().findOrThrow(name), type);
  }
}
