package dev.berth.handler.text;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Documents;
import dev.berth.content.Excerpt;
import dev.berth.content.Json;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.IntStream;

/// A request of OpenAI's embeddings API, and its answer.
///
/// @param model the name that the caller gave
/// @param base64 whether vectors are their little-endian bytes, which OpenAI's clients ask for by
///   themselves
/// @param dimensions how many numbers are kept; a vector that is cut is scaled to length 1
record OpenAiEmbeddings(String model, boolean base64, OptionalInt dimensions, List<Text> texts) {

  /// Where OpenAI's clients ask.
  static final String PATH = "/v1/embeddings";

  /// @param name what messages call it
  record Text(String name, JsonNode json) implements Documents.Document {}

  /// @throws BadInputException naming the field that is wrong
  static OpenAiEmbeddings read(JsonNode body) {
    var format = body.path("encoding_format");
    if (isThere(format) && !List.of("float", "base64").contains(format.asText())) {
      throw new BadInputException(
          "encoding_format: found %s, expected \"float\" or \"base64\""
              .formatted(Excerpt.of(format)));
    }
    var dimensions = body.path("dimensions");
    if (isThere(dimensions)
        && !(dimensions.canConvertToInt()
            && dimensions.isIntegralNumber()
            && dimensions.intValue() > 0)) {
      throw new BadInputException(
          "dimensions: found %s, expected a whole number, at least 1"
              .formatted(Excerpt.of(dimensions)));
    }
    return new OpenAiEmbeddings(
        body.path("model").asText("model"),
        format.asText().equals("base64"),
        isThere(dimensions) ? OptionalInt.of(dimensions.intValue()) : OptionalInt.empty(),
        texts(body.path("input")));
  }

  private static boolean isThere(JsonNode field) {
    return !field.isMissingNode() && !field.isNull();
  }

  private static List<Text> texts(JsonNode input) {
    if (input.isTextual()) {
      return List.of(new Text("input", input));
    }
    if (!input.isArray() || input.isEmpty()) {
      throw new BadInputException(
          "input: found %s, expected a text or a list of texts"
              .formatted(input.isArray() ? "an empty list" : Excerpt.of(input)));
    }
    var texts =
        IntStream.range(0, input.size())
            .mapToObj(i -> new Text("input[%d]".formatted(i), input.path(i)))
            .toList();
    for (var text : texts) {
      if (text.json.isIntegralNumber() || text.json.isArray()) {
        throw new BadInputException(
            "%s: found token ids, expected a text; they are those of another tokenizer"
                .formatted(text.name));
      }
      if (!text.json.isTextual()) {
        throw new BadInputException(
            "%s: found %s, expected a text".formatted(text.name, Excerpt.of(text.json)));
      }
    }
    return texts;
  }

  /// @param vectors one for each text
  /// @param tokens of all texts
  InvocationResponse answer(List<float[]> vectors, int tokens) {
    var data =
        IntStream.range(0, vectors.size())
            .mapToObj(
                i ->
                    fields(
                        "object",
                        "embedding",
                        "index",
                        i,
                        "embedding",
                        written(cut(vectors.get(i)))))
            .toList();
    return InvocationResponse.of(
        Json.write(
            fields(
                "object",
                "list",
                "data",
                data,
                "model",
                model,
                "usage",
                fields("prompt_tokens", tokens, "total_tokens", tokens))),
        MediaType.JSON);
  }

  private float[] cut(float[] vector) {
    if (dimensions.isEmpty()) {
      return vector;
    }
    if (dimensions.getAsInt() > vector.length) {
      throw new BadInputException(
          "dimensions: found %d, expected at most the %d of this model's vectors"
              .formatted(dimensions.getAsInt(), vector.length));
    }
    return EmbeddingHandler.normalised(Arrays.copyOf(vector, dimensions.getAsInt()));
  }

  private Object written(float[] vector) {
    if (!base64) {
      return vector;
    }
    var bytes = ByteBuffer.allocate(Float.BYTES * vector.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asFloatBuffer().put(vector);
    // Jackson writes bytes as base64.
    return bytes.array();
  }

  private static Map<String, Object> fields(Object... namesAndValues) {
    var fields = new LinkedHashMap<String, Object>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      fields.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return fields;
  }
}
