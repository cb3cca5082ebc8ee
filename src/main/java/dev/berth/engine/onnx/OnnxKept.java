package dev.berth.engine.onnx;

import ai.onnxruntime.OnnxTensor;
import dev.berth.engine.KeptTensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// A tensor of ONNX Runtime that the graph which made it frees at the latest.
final class OnnxKept implements KeptTensor {

  private final Set<OnnxKept> open;
  private OnnxTensor tensor;

  /// @param open those of the graph that are not closed
  OnnxKept(OnnxTensor tensor, Set<OnnxKept> open) {
    this.tensor = tensor;
    this.open = open;
    open.add(this);
  }

  /// Those that a forward is given.
  ///
  /// @throws IllegalArgumentException when one can't be given to it
  static List<OnnxKept> all(List<KeptTensor> kept) {
    var all = new ArrayList<OnnxKept>(kept.size());
    for (var each : kept) {
      all.add(
          switch (each) {
            case OnnxKept own when own.tensor.isClosed() ->
                throw refused(all.size(), "a closed tensor", "an open one");
            case OnnxKept own when all.contains(own) ->
                throw refused(all.size(), "the same tensor twice", "another one");
            case OnnxKept own -> own;
            case null, default ->
                throw refused(
                    all.size(), String.valueOf(each), "a tensor that Graph.keep has returned");
          });
    }
    return all;
  }

  private static IllegalArgumentException refused(int index, String found, String expected) {
    return new IllegalArgumentException(
        "kept[%d]: found %s, expected %s".formatted(index, found, expected));
  }

  OnnxTensor tensor() {
    return tensor;
  }

  /// Frees what it was.
  void become(OnnxTensor other) {
    tensor.close();
    tensor = other;
  }

  @Override
  public long bytes() {
    return tensor.isClosed() ? 0 : OnnxValues.bytes(tensor);
  }

  @Override
  public void close() {
    open.remove(this);
    if (!tensor.isClosed()) {
      tensor.close();
    }
  }
}
