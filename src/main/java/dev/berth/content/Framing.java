package dev.berth.content;

/// What a reader of framed records gives of each: SageMaker sends framed records under `MultiRecord` and bare ones
/// under `SingleRecord`.
public enum Framing {
  /// The record with the frame around it, byte for byte as it was read.
  KEPT,
  /// The record alone.
  STRIPPED
}
