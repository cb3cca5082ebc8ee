package dev.berth.handler.task;

import dev.berth.artifact.TracedArtifact;
import dev.berth.hooks.InferenceHandler;
import java.util.Optional;

/// The built-in handler of a task, for a model that `trace.py` has made.
public interface TracedHandler<M, I, O> extends InferenceHandler<M, I, O> {

    /// What it serves.
    TracedArtifact artifact();

    @Override
    default Optional<String> task() {
        return Optional.of(artifact().task());
    }

    /// Whether [#warmUpFn] asks the sample of the artifact and checks the answer, which may differ
    /// more than numbers do. Else the server does.
    default boolean checksSample() {
        return false;
    }
}
