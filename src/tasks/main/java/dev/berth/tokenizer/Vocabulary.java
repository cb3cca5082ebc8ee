package dev.berth.tokenizer;

import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.json.JsonText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/// The tokens of a `tokenizer.json` by id and by text, and how its words are put together.
/// Immutable.
public final class Vocabulary {

    private final Map<Long, String> tokens = new HashMap<>();
    private final Map<String, Long> ids = new HashMap<>();
    private final String subwordPrefix;
    private final boolean spaced;

    private Vocabulary(JsonNode json) {
        var model = json.path("model");
        var vocabulary = model.path("vocab");
        if (vocabulary.isArray()) {
            for (int id = 0; id < vocabulary.size(); id++) {
                add(vocabulary.path(id).path(0).asText(), id);
            }
        } else {
            vocabulary
                    .properties()
                    .forEach(token -> add(token.getKey(), token.getValue().longValue()));
        }
        json.path("added_tokens")
                .forEach(token ->
                        add(token.path("content").asText(), token.path("id").longValue()));
        this.subwordPrefix = model.path("continuing_subword_prefix").asText("");
        this.spaced = json.path("decoder").path("type").asText("WordPiece").equals("WordPiece");
    }

    private void add(String token, long id) {
        tokens.put(id, token);
        ids.put(token, id);
    }

    /// @param file a `tokenizer.json`
    /// @throws IOException when it can't be read
    public static Vocabulary read(Path file) throws IOException {
        try (var parser = JsonText.parser(file)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new IOException("%s: found no object, expected a tokenizer".formatted(file));
            }
            return new Vocabulary(parser.readValueAsTree());
        }
    }

    public int size() {
        return tokens.size();
    }

    /// A token as the vocabulary spells it, such as `##ing` or `Ġthe`; empty where there is none of
    /// that id.
    public String token(long id) {
        return tokens.getOrDefault(id, "");
    }

    public Optional<Long> id(String token) {
        return Optional.ofNullable(ids.get(token));
    }

    /// What tokens begin with that go on with a word, such as `##`; empty where spaces stand in the
    /// tokens themselves.
    public String subwordPrefix() {
        return subwordPrefix;
    }

    /// Whether the decoder puts a space between words. Others have the space in the token.
    public boolean isSpaced() {
        return spaced;
    }
}
