package dev.berth.tokenizer;

import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.berth.json.JsonText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/// What the files of a model say of its rows, beside the vocabulary: the longest row, padding, and
/// the tokens for that.
///
/// `tokenizer_config.json` and `special_tokens_map.json` are Hugging Face's and may both be
/// missing.
///
/// @param json the parts of `tokenizer.json` that matter here
/// @param longest the most tokens of a row by the files beside `tokenizer.json`
record TokenizerFiles(JsonNode json, JsonNode config, JsonNode specialTokens, int longest) {

    /// A tokenizer.json alone does not say which of its tokens is for padding.
    private static final List<String> USUAL_PADDING = List.of("[PAD]", "<pad>");

    private static final List<String> USUAL_MASKS = List.of("[MASK]", "<mask>");

    /// They come before the vocabulary, so nothing of that is read. What cuts words comes before them.
    private static final Set<String> PARTS = Set.of("truncation", "padding", "added_tokens");

    /// @param file a `tokenizer.json`, with the others beside it
    /// @throws IOException when one is not as it must be
    static TokenizerFiles read(Path file) throws IOException {
        var json = parts(file);
        var config = beside(file, "tokenizer_config.json");
        return new TokenizerFiles(
                json,
                config,
                beside(file, "special_tokens_map.json"),
                // A tokenizer without a limit has the length 1e30.
                Math.min(
                        length(config.path("model_max_length")),
                        length(beside(file, "model.json").path("maxSequenceLength"))));
    }

    private static JsonNode parts(Path file) throws IOException {
        var parts = JsonNodeFactory.instance.objectNode();
        try (var parser = JsonText.parser(file)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                return parts;
            }
            var missing = new HashSet<>(PARTS);
            for (var name = parser.nextFieldName(); name != null && !missing.isEmpty(); name = parser.nextFieldName()) {
                parser.nextToken();
                if (missing.remove(name) || name.equals(WordCutter.NAME)) {
                    parts.set(name, parser.<JsonNode>readValueAsTree());
                } else {
                    parser.skipChildren();
                }
            }
        }
        return parts;
    }

    private static JsonNode beside(Path file, String name) throws IOException {
        var other = file.resolveSibling(name);
        return Files.isRegularFile(other) ? JsonText.read(other) : MissingNode.getInstance();
    }

    /// How rows are cut by default.
    Truncation truncation() {
        return truncation(longest < Integer.MAX_VALUE ? longest : length(json.at("/truncation/max_length")));
    }

    Truncation truncation(int most) {
        var own = json.at("/truncation/direction").asText();
        return new Truncation(
                most,
                Truncation.Strategy.LONGEST_FIRST,
                side(config.path("truncation_side").asText(own)));
    }

    private static int length(JsonNode value) {
        return value.isInt() && value.intValue() > 0 ? value.intValue() : Integer.MAX_VALUE;
    }

    private static Truncation.Side side(String name) {
        return name.toLowerCase(Locale.ROOT).equals("left") ? Truncation.Side.LEFT : Truncation.Side.RIGHT;
    }

    /// What shorter rows are padded with.
    EncodedBatch.Padding padding(long id) {
        return new EncodedBatch.Padding(
                id,
                config.path("pad_token_type_id")
                        .asLong(json.at("/padding/pad_type_id").asLong()),
                side(config.path("padding_side")
                        .asText(json.at("/padding/direction").asText())));
    }

    /// The text of the padding token; empty where no file has one.
    String paddingToken() {
        return special("pad_token", json.at("/padding/pad_token").asText(""), USUAL_PADDING);
    }

    /// The text of the token that stands for a word to be filled in.
    Optional<String> maskToken() {
        return Optional.of(special("mask_token", "", USUAL_MASKS)).filter(token -> !token.isEmpty());
    }

    /// @param own what `tokenizer.json` calls it; empty: nothing
    private String special(String name, String own, List<String> usual) {
        var listed = text(specialTokens.path(name), own);
        var known =
                usual.stream().filter(token -> addedToken(token).isPresent()).findFirst();
        return text(config.path(name), listed.isEmpty() ? known.orElse("") : listed);
    }

    /// The id of a token that the file lists beside its vocabulary, as most special ones.
    Optional<Long> addedToken(String content) {
        return json.path("added_tokens")
                .valueStream()
                .filter(token -> token.path("content").asText().equals(content))
                .map(token -> token.path("id").longValue())
                .findFirst();
    }

    private static String text(JsonNode token, String otherwise) {
        return token.isObject() ? token.path("content").asText(otherwise) : token.asText(otherwise);
    }

    /// Whether `decode` joins marks and the words before them, as `transformers` does for this
    /// tokenizer.
    boolean cleansUp() {
        return config.path("clean_up_tokenization_spaces").asBoolean();
    }
}
