package dev.berth.serving;

/// What a server has for its callers.
public sealed interface Served {

  /// A model that is there from the start to the end: `/invocations`.
  record One(ServedModel model) implements Served {}

  /// Models that come and go: `/models`.
  record Many(ManyModels models) implements Served {}
}
