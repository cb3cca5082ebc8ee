package dev.berth.serving.many;

import dev.berth.serving.ServedModel;
import dev.berth.serving.hooks.Deadline;

/// What a server has for its callers.
public sealed interface Served {

    /// What the only model of a server is called in its log and its metrics.
    String NAME = "model";

    /// Has the model of that name take a request in. The only model of a server has any name.
    ///
    /// @throws dev.berth.error.ServingException when there is none, or it can't be loaded by the
    ///   deadline
    ServedModel.Visit enter(String name, Deadline deadline);

    /// A model that is there from the start to the end: `/invocations`.
    record One(ServedModel model) implements Served {
        @Override
        public ServedModel.Visit enter(String name, Deadline deadline) {
            return model.enter();
        }
    }

    /// A model at `/invocations` whose artifact is edited meanwhile.
    record Watched(ModelDirectory models) implements Served {
        @Override
        public ServedModel.Visit enter(String name, Deadline deadline) {
            return models.enter(NAME, deadline);
        }
    }

    /// Models that come and go: `/models`.
    record Many(ManyModels models) implements Served {
        @Override
        public ServedModel.Visit enter(String name, Deadline deadline) {
            return models.enter(name, deadline);
        }
    }
}
