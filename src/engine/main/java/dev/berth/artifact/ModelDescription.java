package dev.berth.artifact;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/// What `model.json` says of how an artifact wants to be served, or would say of a directory of
/// another kind. All of it may be left out, and so may the file.
///
/// @param task what the model is for, such as `question-answering`; it chooses a built-in handler
/// @param handler the class of `code/` that is the handler
/// @param target the device that the model was traced for
/// @param engine the name of the engine that runs the model; empty: the form of the file decides
/// @param warnings what the files of a directory of another kind say in vain, a line each
public record ModelDescription(
        Optional<String> task,
        Optional<String> handler,
        Optional<Target> target,
        Optional<String> engine,
        List<String> warnings) {

    /// Reads what can be read; [ModelArtifact] and [TensorArtifact] say what is wrong with the rest.
    ///
    /// @throws ModelArtifactException when there is a `model.json` that is no JSON object
    public static ModelDescription read(Path directory) {
        if (!ModelJson.isIn(directory) && ModelJson.described(directory).isEmpty()) {
            return new ModelDescription(
                    Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), List.of());
        }
        var json = ModelJson.read(directory);
        return new ModelDescription(
                json.find("task"),
                json.find("handler"),
                json.findTarget(),
                json.find("engine"),
                json.json()
                        .path(ModelLayout.WARNINGS)
                        .valueStream()
                        .map(JsonNode::asText)
                        .toList());
    }

    /// What the `model.json` of a directory says, or the nearest one above it: a model file may stand
    /// deeper in its artifact.
    ///
    /// @see #read
    public static ModelDescription nearest(Path directory) {
        return Stream.iterate(directory.toAbsolutePath(), Objects::nonNull, Path::getParent)
                .filter(ModelJson::isIn)
                .findFirst()
                .map(ModelDescription::read)
                .orElseGet(() -> read(directory));
    }
}
