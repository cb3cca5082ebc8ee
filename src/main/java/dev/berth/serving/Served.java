package dev.berth.serving;

/// What a server has for its callers.
public sealed interface Served {

  /// What the only model of a server is called in its log and its metrics.
  String NAME = "model";

  /// A model that is there from the start to the end: `/invocations`.
  record One(ServedModel model) implements Served {}

  /// A model at `/invocations` whose artifact is edited meanwhile.
  record Watched(ModelDirectory models) implements Served {

    /// @throws dev.berth.error.ServingException when no version of it can be loaded by the deadline
    public ServedModel.Visit enter(Deadline deadline) {
      return models.enter(NAME, deadline);
    }
  }

  /// Models that come and go: `/models`.
  record Many(ManyModels models) implements Served {}
}
