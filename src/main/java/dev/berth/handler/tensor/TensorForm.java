package dev.berth.handler.tensor;

import dev.berth.content.Instances;
import dev.berth.hooks.InvocationRequest;

/// How a payload's records are written, and so how its predictions are. `inputFn` leaves it with the request for
/// `outputFn`.
enum TensorForm {
  /// `{"instances": […]}`, answered by `{"predictions": […]}`.
  INSTANCES,
  /// `{"inputs": …}`, answered by `{"outputs": …}`: batches and not rows.
  COLUMNS,
  /// One record without a list around it.
  ONE,
  /// A list of records, or an array of rows.
  LIST;

  private static final String NAME = TensorForm.class.getName();

  static TensorForm of(Instances.Form form) {
    return switch (form) {
      case INSTANCES -> INSTANCES;
      case LIST -> LIST;
      case ONE -> ONE;
    };
  }

  void of(InvocationRequest request) {
    request.attributes().put(NAME, this);
  }

  static TensorForm in(InvocationRequest request) {
    return (TensorForm) request.attributes().getOrDefault(NAME, LIST);
  }
}
