package dev.berth.artifact;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.ArrayList;
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
        Header header, Shapes shapes, int maxSequenceLength, PairTemplate pair, List<String> pooling, boolean lowerCase)
        implements TracedArtifact {

    public ModelArtifact {
        pooling = List.copyOf(pooling);
    }

    /// Reads and checks the artifact in `directory`.
    ///
    /// @throws ModelArtifactException with everything that is wrong
    public static ModelArtifact open(Path directory) {
        return new Reader(directory).read();
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
            case Shapes.Compiled(var compiled) ->
                compiled.stream().map(Shapes.Shape::file).toList();
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
            case Shapes.Dynamic _ -> "any batch, any sequence of up to %d tokens".formatted(maxSequenceLength);
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

    /// Reads the `model.json`. Used by one thread, once.
    private static final class Reader {

        private final ModelJson json;

        Reader(Path directory) {
            this.json = ModelJson.read(directory).checkFormat();
        }

        ModelArtifact read() {
            var artifact = new ModelArtifact(
                    json.header(),
                    shapes(),
                    json.integer(json.json(), "maxSequenceLength", "maxSequenceLength"),
                    pair(json.json().path("pair")),
                    json.json().has("pooling") ? json.texts("pooling") : List.of(),
                    lowerCase(json.json().path("lowerCase")));
            checkShapes(artifact);
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

        private boolean lowerCase(JsonNode value) {
            if (!value.isMissingNode() && !value.isBoolean()) {
                json.wrong("lowerCase", "true or false");
            }
            return value.asBoolean();
        }

        private Shapes shapes() {
            var kind = json.text("shapes");
            var files = json.files();
            if (files.isEmpty()) {
                return new Shapes.Compiled(List.of());
            }
            return switch (kind) {
                case "dynamic" -> {
                    if (files.size() > 1) {
                        json.problem("model.json: files: found %d, expected one that takes every shape"
                                .formatted(files.size()));
                    }
                    yield new Shapes.Dynamic(json.modelFile(files.path(0), "files[0]"));
                }
                case "compiled" -> {
                    var shapes = new ArrayList<Shapes.Shape>();
                    for (int i = 0; i < files.size(); i++) {
                        var name = "files[%d]".formatted(i);
                        shapes.add(new Shapes.Shape(
                                json.modelFile(files.path(i), name),
                                json.integer(files.path(i), "batch", name + ".batch"),
                                json.integer(files.path(i), "sequence", name + ".sequence")));
                    }
                    yield new Shapes.Compiled(shapes);
                }
                default -> {
                    json.wrong("shapes", "\"dynamic\" or \"compiled\"");
                    yield new Shapes.Compiled(List.of());
                }
            };
        }

        private void checkShapes(ModelArtifact artifact) {
            switch (artifact.shapes()) {
                case Shapes.Dynamic _
                when artifact.target().isNeuron() -> json.wrong("shapes", "\"compiled\" for " + artifact.target());
                case Shapes.Dynamic _ -> {}
                case Shapes.Compiled(var shapes) ->
                    shapes.stream()
                            .filter(shape -> shape.sequence() > artifact.maxSequenceLength())
                            .forEach(shape -> json.problem(
                                    "model.json: files: found a sequence of %d, expected at most the maxSequenceLength of %d"
                                            .formatted(shape.sequence(), artifact.maxSequenceLength())));
            }
        }

        private PairTemplate pair(JsonNode pair) {
            return new PairTemplate(
                    tokens(pair, "before"),
                    tokens(pair, "between"),
                    tokens(pair, "after"),
                    token(pair.path("padding"), "padding"),
                    token(pair.path("questionType"), "questionType"),
                    token(pair.path("contextType"), "contextType"));
        }

        private List<Long> tokens(JsonNode pair, String name) {
            var tokens = pair.path(name);
            if (!tokens.isArray()) {
                json.wrong("pair." + name, tokens, "a list of token ids");
            }
            return tokens.valueStream().map(token -> token(token, name)).toList();
        }

        private long token(JsonNode token, String name) {
            if (!token.isIntegralNumber() || token.longValue() < 0) {
                json.wrong("pair." + name, token, "a token id");
            }
            return token.asLong();
        }
    }
}
