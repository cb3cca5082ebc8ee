package dev.berth.artifact;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.Optional;

/// Another layout of a model's directory than that of an artifact, such as Hugging Face's: it says
/// what `model.json` would. `META-INF/services` lists those who implement it.
///
/// Asked wherever an artifact is opened that has no `model.json`, on the thread that opens it.
public interface ModelLayout {

    /// Where a description has what its directory's files say in vain, as a list of texts.
    String WARNINGS = "warnings";

    /// What messages name in the place of `model.json: `, which such a directory does not have.
    String SOURCE = "config.json and the files beside it: ";

    /// @return empty for a directory of another layout
    /// @throws ModelArtifactException when it has this layout and can't be served
    Optional<JsonNode> describe(Path directory);
}
