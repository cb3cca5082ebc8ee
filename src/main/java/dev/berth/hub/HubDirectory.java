package dev.berth.hub;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.json.JsonText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// The directory of a model on the hub, and its files of JSON.
record HubDirectory(Path path) {

  boolean has(String name) {
    return Files.exists(path.resolve(name));
  }

  /// @return missing: there is no such file
  JsonNode json(String name) {
    if (!has(name)) {
      return MissingNode.getInstance();
    }
    try {
      return JsonText.read(path.resolve(name));
    } catch (IOException e) {
      throw refused("%s: %s".formatted(name, e.getMessage()));
    }
  }

  ModelArtifactException refused(String problem) {
    return new ModelArtifactException(path, problem);
  }
}
