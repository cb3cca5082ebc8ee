package dev.berth.artifact;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.Optional;

/// Says what `model.json` would of a directory that has none, such as one of Hugging Face. Who
/// implements it stands in `META-INF/services`.
public interface Describer {

  /// Where a description has what its directory's files say in vain, as a list of texts.
  String WARNINGS = "warnings";

  /// What messages name in the place of `model.json: `, which such a directory does not have.
  String SOURCE = "config.json and the files beside it: ";

  /// @return nothing for a directory of another kind
  /// @throws ModelArtifactException when it is of this kind and can't be served
  Optional<JsonNode> describe(Path directory);
}
