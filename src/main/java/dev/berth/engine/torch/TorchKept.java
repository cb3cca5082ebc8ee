package dev.berth.engine.torch;

import ai.djl.Device;
import ai.djl.ndarray.NDManager;
import ai.djl.pytorch.engine.PtNDArray;
import dev.berth.engine.KeptTensor;
import java.util.ArrayList;
import java.util.List;

/// A native tensor that a manager of the model's own frees at the latest.
final class TorchKept implements KeptTensor {

  private final NDManager manager;
  private PtNDArray array;

  TorchKept(PtNDArray array, NDManager manager) {
    this.manager = manager;
    become(array);
  }

  /// Those that a forward is given.
  ///
  /// @param device of the model
  /// @throws IllegalArgumentException when one can't be given to it
  static List<TorchKept> all(List<KeptTensor> kept, Device device) {
    var all = new ArrayList<TorchKept>(kept.size());
    for (var each : kept) {
      all.add(
          switch (each) {
            case TorchKept own when own.array.isReleased() ->
                throw refused(all.size(), "a closed tensor", "an open one");
            case TorchKept own when !own.array.getDevice().equals(device) ->
                throw refused(
                    all.size(),
                    "a tensor on " + own.array.getDevice(),
                    "one on %s, where the model is".formatted(device));
            case TorchKept own when all.contains(own) ->
                throw refused(all.size(), "the same tensor twice", "another one");
            case TorchKept own -> own;
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

  PtNDArray array() {
    return array;
  }

  /// Frees what it was. Both may be the same memory, which has as many users as arrays.
  void become(PtNDArray other) {
    other.attach(manager);
    if (array != null) {
      array.close();
    }
    array = other;
  }

  @Override
  public long bytes() {
    return array.isReleased() ? 0 : TensorCopy.bytes(array);
  }

  @Override
  public void close() {
    array.close();
  }
}
