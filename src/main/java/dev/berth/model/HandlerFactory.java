package dev.berth.model;

import dev.berth.hooks.InferenceHandler;
import java.nio.file.Path;

/// Makes the hooks of a model from its artifact.
@FunctionalInterface
public interface HandlerFactory {

  InferenceHandler<?, ?, ?> create(Path modelDirectory) throws Exception;
}
