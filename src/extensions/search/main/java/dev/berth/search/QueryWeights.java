package dev.berth.search;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.content.Excerpt;
import dev.berth.json.JsonText;
import dev.berth.tokenizer.Encoding;
import dev.berth.tokenizer.Vocabulary;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/// The weights of tokens in queries, of a model that has no encoder for those. Immutable.
///
/// Source: `SparseStaticEmbedding` of sentence-transformers, and `idf.json` of OpenSearch's models.
final class QueryWeights {

    private static final String FILE = "idf.json";

    private final Map<Long, Float> weights = new HashMap<>();

    /// @throws ModelArtifactException when the file is broken, or has what is no token
    private QueryWeights(ModelArtifact artifact, JsonNode json, Vocabulary vocabulary) {
        if (!json.isObject()) {
            throw bad(artifact, "found %s, expected an object".formatted(Excerpt.of(json)), null);
        }
        for (var token : json.properties()) {
            if (!token.getValue().isNumber()) {
                throw bad(
                        artifact, "%s: found %s, expected a number".formatted(token.getKey(), token.getValue()), null);
            }
            long id = vocabulary
                    .id(token.getKey())
                    .orElseThrow(() -> bad(
                            artifact,
                            "found \"%s\", expected tokens of tokenizer.json".formatted(token.getKey()),
                            null));
            weights.put(id, token.getValue().floatValue());
        }
    }

    /// Those beside a model; nothing where its encoder is for queries too.
    static Optional<QueryWeights> of(ModelArtifact artifact, Vocabulary vocabulary) {
        var file = artifact.header().directory().resolve(FILE);
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try {
            return Optional.of(new QueryWeights(artifact, JsonText.read(file), vocabulary));
        } catch (IOException e) {
            throw bad(artifact, e.getMessage(), e);
        }
    }

    private static ModelArtifactException bad(ModelArtifact artifact, String problem, Exception cause) {
        return new ModelArtifactException(artifact.header().directory(), FILE + ": " + problem, cause);
    }

    /// The weights of a query's tokens by their ids, however often each is there. Special tokens have none.
    float[] of(Encoding row) {
        var ids = IntStream.range(0, row.size())
                .filter(i -> row.sequences()[i] >= 0)
                .mapToLong(i -> row.ids()[i])
                .toArray();
        var all = new float[1 + (int) Arrays.stream(ids).max().orElse(0)];
        Arrays.stream(ids).forEach(id -> all[(int) id] = weights.getOrDefault(id, 0F));
        return all;
    }
}
