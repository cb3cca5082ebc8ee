package dev.berth.artifact;

import java.nio.file.Path;
import java.util.Optional;

/// What `model.json` says of how an artifact wants to be served. All of it may be left out, and so
/// may the file.
///
/// @param task what the model is for, such as `question-answering`; it chooses a built-in handler
/// @param handler the class of `code/` that is the handler
/// @param target the device that the model was traced for
public record ModelDescription(
    Optional<String> task, Optional<String> handler, Optional<Target> target) {

  /// Reads what can be read; [ModelArtifact] and [TensorArtifact] say what is wrong with the rest.
  ///
  /// @throws ModelArtifactException when there is a `model.json` that is no JSON object
  public static ModelDescription read(Path directory) {
    if (!ModelJson.isIn(directory)) {
      return new ModelDescription(Optional.empty(), Optional.empty(), Optional.empty());
    }
    var json = ModelJson.read(directory);
    return new ModelDescription(
        json.find("task"), json.find("handler"), json.find("target").map(_ -> json.target()));
  }
}
