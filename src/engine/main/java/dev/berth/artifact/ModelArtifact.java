package dev.berth.artifact;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// A traced transformer: it takes rows of tokens.
///
/// @param shapes the shapes that the files take
/// @param maxSequenceLength the most tokens that the model takes at once, special tokens included
/// @param padding the token that fills a row up
/// @param pooling what makes a vector of those of the tokens, in order; empty: the model does
/// @param lowerCase whether texts are put in lower case before its tokenizer
public record ModelArtifact(
        Header header, Shapes shapes, int maxSequenceLength, long padding, List<String> pooling, boolean lowerCase)
        implements TracedArtifact {

    public ModelArtifact {
        pooling = List.copyOf(pooling);
    }

    /// Reads and checks the artifact in `directory`.
    ///
    /// @throws ModelArtifactException with everything that is wrong
    public static ModelArtifact open(Path directory) {
        var json = ModelJson.read(directory).checkFormat();
        var header = Header.read(json);
        int longest = json.integer("maxSequenceLength");
        var artifact = new ModelArtifact(
                header,
                Shapes.read(json, header.target(), longest, file -> file.integer("sequence")),
                longest,
                json.at("pair", "an object")
                        .value("padding", token -> token.isIntegralNumber() && token.longValue() >= 0, "a token id")
                        .asLong(),
                json.findTexts("pooling"),
                json.flag("lowerCase").orElse(false));
        artifact.shapes.files().stream()
                .filter(shape -> shape.sequence() > longest)
                .forEach(shape ->
                        json.problem("files: found a sequence of %d, expected at most the maxSequenceLength of %d"
                                .formatted(shape.sequence(), longest)));
        json.check("tokenizer.json", artifact.tokenizer());
        // These may be left out.
        for (var sample : List.of(artifact.sample(), artifact.sampleResponse())) {
            if (ArtifactFile.isThere(sample)) {
                json.check(sample.getFileName().toString(), sample);
            }
        }
        json.stopIfWrong();
        return artifact;
    }

    /// The most tokens of a row that there is a shape for.
    public int longestRow() {
        return shapes.files().getLast().sequence();
    }

    @Override
    public List<Path> servedFiles() {
        return Stream.concat(modelFiles().stream(), Stream.of(tokenizer())).toList();
    }

    @Override
    public String shownShapes() {
        return shapes.isDynamic()
                ? "any batch, any sequence of up to %d tokens".formatted(maxSequenceLength)
                : shapes.files().stream()
                        .map(shape -> "[%d, %d]".formatted(shape.batch(), shape.sequence()))
                        .collect(Collectors.joining(", "));
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
