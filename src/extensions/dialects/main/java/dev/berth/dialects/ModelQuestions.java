package dev.berth.dialects;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.artifact.ModelArtifact;
import dev.berth.content.Excerpt;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.handler.text.TextQuestions;
import dev.berth.hooks.InvocationRequest;
import dev.berth.memory.RequestMemory;
import dev.berth.tokenizer.Tokenizer;
import dev.berth.tokenizer.Truncation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// What clients of Text Embeddings Inference ask about a model without asking it: `/info`,
/// `/tokenize` and `/decode`.
public final class ModelQuestions implements TextQuestions {

    private static final Map<String, String> TYPES = Map.of("fp32", "float32", "fp16", "float16", "bf16", "bfloat16");

    /// A token as it is written: its object, and its text once more in JSON.
    private static final int BYTES_OF_A_TOKEN = 400;

    /// A token as it is answered.
    ///
    /// @param start where it begins in the UTF-8 of its text; null for special tokens
    /// @param stop where it ends, exclusive
    private record Token(long id, String text, boolean special, Integer start, Integer stop) {}

    @Override
    public Optional<Object> answer(InvocationRequest request, ModelArtifact model, Tokenizer tokenizer)
            throws IOException {
        return switch (request.path()) {
            case TextEmbeddings.INFO -> Optional.of(info(model, tokenizer));
            case "/tokenize" -> Optional.of(tokenize(Json.read(request), tokenizer));
            case "/decode" -> Optional.of(decode(Json.read(request), tokenizer));
            default -> Optional.empty();
        };
    }

    private static ObjectNode info(ModelArtifact model, Tokenizer tokenizer) {
        var header = model.header();
        var labels = header.tensors().labels();
        var info = JsonNodeFactory.instance.objectNode();
        info.putPOJO(
                        "model_id",
                        header.origin()
                                .provenance()
                                .getOrDefault(
                                        "model",
                                        header.directory().getFileName().toString()))
                .putNull("model_sha")
                .put(
                        "model_dtype",
                        TYPES.getOrDefault(
                                header.origin().precision(), header.origin().precision()))
                .put(
                        "max_input_length",
                        tokenizer.truncation(model.longestRow()).maxLength())
                .put("auto_truncate", true);
        var type = info.putObject("model_type");
        if (labels.isEmpty()) {
            var pooling = model.pooling();
            type.putObject("embedding").put("pooling", pooling.isEmpty() ? "in the model" : String.join(", ", pooling));
        } else {
            var classes = type.putObject(labels.size() == 1 ? "reranker" : "classifier");
            var names = classes.putObject("id2label");
            var numbers = classes.putObject("label2id");
            for (int i = 0; i < labels.size(); i++) {
                names.put(String.valueOf(i), labels.get(i));
                numbers.put(labels.get(i), i);
            }
        }
        return info;
    }

    private static List<List<Token>> tokenize(JsonNode body, Tokenizer tokenizer) {
        var fields = Fields.of(body, "body", List.of("inputs", "add_special_tokens"));
        boolean special = fields.bool("add_special_tokens", true);
        return fields
                .texts("inputs")
                .filter(texts -> !texts.isEmpty())
                .orElseThrow(() -> fields.bad("inputs", "a text or a list of texts, at least one"))
                .stream()
                .map(text -> tokens(text, tokenizer, special))
                .toList();
    }

    private static List<Token> tokens(String text, Tokenizer tokenizer, boolean withSpecial) {
        var row = tokenizer.encode(text, Truncation.NONE);
        RequestMemory.charge((long) BYTES_OF_A_TOKEN * row.size());
        var tokens = new ArrayList<Token>();
        int counted = 0;
        int start = 0;
        for (int i = 0; i < row.size(); i++) {
            long id = row.ids()[i];
            if (row.sequences()[i] >= 0) {
                start += bytes(text.substring(counted, row.starts()[i]));
                counted = row.starts()[i];
                var part = text.substring(counted, row.ends()[i]);
                tokens.add(new Token(id, part, false, start, start + bytes(part)));
            } else if (withSpecial) {
                tokens.add(new Token(id, tokenizer.decode(new long[] {id}, false), true, null, null));
            }
        }
        return tokens;
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    private static List<String> decode(JsonNode body, Tokenizer tokenizer) {
        var fields = Fields.of(body, "body", List.of("ids", "skip_special_tokens"));
        boolean skip = fields.bool("skip_special_tokens", true);
        var ids = fields.json("ids");
        return (ids.path(0).isArray() ? ids.valueStream().toList() : List.of(ids))
                .stream().map(row -> tokenizer.decode(ids(row), skip)).toList();
    }

    private static long[] ids(JsonNode row) {
        if (row.isEmpty() || !row.valueStream().allMatch(id -> id.canConvertToInt() && id.intValue() >= 0)) {
            throw Excerpt.bad("ids", row, "token ids, or a list of lists of them");
        }
        return row.valueStream().mapToLong(JsonNode::longValue).toArray();
    }
}
