package dev.berth.artifact;

import java.nio.file.Path;
import java.util.List;

/// A model artifact that can't be served, with everything that is wrong with it.
public final class ModelArtifactException extends RuntimeException {

  public ModelArtifactException(Path directory, List<String> problems) {
    super("model artifact %s: %s".formatted(directory, String.join("; ", problems)));
  }
}
