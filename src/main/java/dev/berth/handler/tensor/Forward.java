package dev.berth.handler.tensor;

import dev.berth.hooks.Tensor;
import java.util.List;

/// A loaded model: one tensor for each parameter of its `forward` in, one for each thing that it returns out.
@FunctionalInterface
public interface Forward {

  List<Tensor> forward(List<Tensor> inputs);
}
