package dev.berth.engine;

import java.util.List;

/// What a model file says of its `forward` before it is loaded.
///
/// @param inputs the parameters in their order; empty: the file does not tell
/// @param required how many of them, from the first on, have no default
/// @param outputs the keys of the dict that `forward` returns, in the order of [Graph#forward];
///   empty: it returns no dict, or one that is made elsewhere
public record GraphNames(List<String> inputs, int required, List<String> outputs) {

  public static final GraphNames UNKNOWN = new GraphNames(List.of(), 0, List.of());

  public GraphNames {
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
  }
}
