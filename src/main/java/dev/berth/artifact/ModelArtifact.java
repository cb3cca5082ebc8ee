package dev.berth.artifact;

import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// A traced transformer: it takes rows of tokens.
///
/// @param shapes the shapes that the files take
/// @param maxSequenceLength the most tokens that the model takes at once, special tokens included
/// @param pair how a question and a context become one sequence
/// @param pooling what makes a vector of those of the tokens, in order; empty: the model does
/// @param lowerCase whether texts are put in lower case before its tokenizer
public record ModelArtifact(
    Header header,
    Shapes shapes,
    int maxSequenceLength,
    PairTemplate pair,
    List<String> pooling,
    boolean lowerCase)
    implements TracedArtifact {

  public ModelArtifact {
    pooling = List.copyOf(pooling);
  }

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

  @Override
  public List<Path> modelFiles() {
    return switch (shapes) {
      case Shapes.Dynamic(var file) -> List.of(file);
      case Shapes.Compiled(var compiled) -> compiled.stream().map(Shapes.Shape::file).toList();
    };
  }

  @Override
  public List<Path> servedFiles() {
    return Stream.concat(modelFiles().stream(), Stream.of(tokenizer())).toList();
  }

  @Override
  public OptionalInt largestBatch() {
    return shapes instanceof Shapes.Compiled(var compiled)
        ? compiled.stream().mapToInt(Shapes.Shape::batch).max()
        : OptionalInt.empty();
  }

  @Override
  public String shownShapes() {
    return switch (shapes) {
      case Shapes.Dynamic _ ->
          "any batch, any sequence of up to %d tokens".formatted(maxSequenceLength);
      case Shapes.Compiled(var compiled) ->
          compiled.stream()
              .map(shape -> "[%d, %d]".formatted(shape.batch(), shape.sequence()))
              .collect(Collectors.joining(", "));
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
