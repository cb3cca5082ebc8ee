package dev.berth.artifact;

import java.nio.file.Path;

/// A traced transformer: it takes rows of tokens.
///
/// @param shapes the shapes that the files take
/// @param maxSequenceLength the most tokens that the model takes at once, special tokens included
/// @param pair how a question and a context become one sequence
public record ModelArtifact(Header header, Shapes shapes, int maxSequenceLength, PairTemplate pair)
    implements TracedArtifact {

  /// Reads and checks the artifact in `directory`.
  ///
  /// @throws ModelArtifactException with everything that is wrong
  public static ModelArtifact open(Path directory) {
    return new ModelArtifactReader(directory).read();
  }

  /// The most tokens of a row that there is a shape for.
  public int longestRow() {
    return switch (shapes) {
      case Shapes.Dynamic _ -> maxSequenceLength;
      case Shapes.Compiled(var compiled) -> compiled.getLast().sequence();
    };
  }

  public Path tokenizer() {
    return directory().resolve("tokenizer.json");
  }

  /// A request that the model can answer, as JSON; with [#sampleResponse()] the artifact's own
  /// test. Either may be missing.
  public Path sample() {
    return directory().resolve("sample.json");
  }

  /// What the model answered to [#sample()] when it was traced.
  public Path sampleResponse() {
    return directory().resolve("sample-response.json");
  }
}
