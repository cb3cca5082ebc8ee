package dev.berth.serving.many;

import dev.berth.serving.ServedModel;
import dev.berth.serving.hooks.Deadline;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/// What a server has for its callers. May be used by any thread.
public interface Served {

    /// What the only model of a server is called in its log and its metrics.
    String NAME = "model";

    /// Takes a request for the model of that name in, as [ServedModel#enter()] does. The only model of
    /// a server has any name.
    ///
    /// @param deadline of the request, which may wait until the model is loaded
    /// @throws dev.berth.error.ServingException `NOT_FOUND` when there is no such model, or why it
    ///   can't be loaded
    ServedModel.Visit enter(String name, Deadline deadline);

    /// The models by their names; empty: the server has only one, at `/invocations`.
    Optional<ManyModels> many();

    /// Why no request can be answered, whichever model it is for; nothing where one can.
    Optional<String> problem();

    /// All that hold something, with every version of each.
    Collection<ServedModel> all();

    /// Refuses loads from now on, and those that are not done. Has all models refuse new requests,
    /// finish the running ones within `drain`, and free what they hold.
    ///
    /// @throws Exception what the hooks of one threw
    void close(Duration drain) throws Exception;

    /// A model that is there from the start to the end.
    record One(ServedModel model) implements Served {
        @Override
        public ServedModel.Visit enter(String name, Deadline deadline) {
            return model.enter();
        }

        @Override
        public Optional<ManyModels> many() {
            return Optional.empty();
        }

        @Override
        public Optional<String> problem() {
            return model.problem();
        }

        @Override
        public Collection<ServedModel> all() {
            return List.of(model);
        }

        @Override
        public void close(Duration drain) throws Exception {
            model.close(drain);
        }
    }
}
