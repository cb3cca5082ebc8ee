import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Excerpt;
import dev.berth.content.JsonTensors;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.Tensor;
import dev.berth.tokenizer.Encoding;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/// What OpenAI's clients are answered: a list of objects, and how many tokens there were.
///
/// @param model the name that the caller gave
/// @param base64 whether vectors are their little-endian bytes, which OpenAI's clients ask for by
///   themselves
record OpenAiAnswer(String model, boolean base64, int tokens) {

  /// @param records the tokens of each sentence
  static OpenAiAnswer asked(JsonNode body, List<Encoding> records) {
    var format = body.path("encoding_format");
    if (!format.isMissingNode() && !List.of("float", "base64").contains(format.asText())) {
      throw new BadInputException(
          "encoding_format: found %s, expected \"float\" or \"base64\""
              .formatted(Excerpt.of(format)));
    }
    int tokens = records.stream().mapToInt(Encoding::size).sum();
    return new OpenAiAnswer(
        body.path("model").asText("embeddings"), format.asText().equals("base64"), tokens);
  }

  Map<String, Object> of(List<Tensor> vectors) {
    var data =
        IntStream.range(0, vectors.size())
            .mapToObj(
                i ->
                    Map.of("object", "embedding", "index", i, "embedding", written(vectors.get(i))))
            .toList();
    return Map.of(
        "object",
        "list",
        "model",
        model,
        "data",
        data,
        "usage",
        Map.of("prompt_tokens", tokens, "total_tokens", tokens));
  }

  private Object written(Tensor vector) {
    if (!base64) {
      return JsonTensors.write(vector);
    }
    var bytes = vector.data();
    var all = new byte[bytes.remaining()];
    bytes.get(all);
    // Jackson writes bytes as base64.
    return all;
  }
}
