package dev.berth.handler.image;

import dev.berth.hooks.Tensor;

/// A record on its way to the model: a prepared picture, or a bad record that keeps its place among
/// the others.
public sealed interface ImageRecord {

  /// @param pixels float32 `[3, height, width]`
  /// @param alone whether it came as the only input of a body
  record Prepared(Tensor pixels, ImageClassificationHandler.Parameters parameters, boolean alone)
      implements ImageRecord {}

  /// @param message what is wrong with it
  record Rejected(String message) implements ImageRecord {}
}
