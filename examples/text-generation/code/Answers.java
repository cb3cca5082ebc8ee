import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// What is said of a part, or of the whole, in each of the forms: JSON objects, as maps in their
/// order.
final class Answers {

  private Answers() {}

  /// One event of a stream.
  static Map<String, Object> event(Part part, Form form) {
    return switch (part) {
      case Part.Begin _ -> {
        var delta = ordered("role", "assistant", "content", "");
        yield chunk(form, ordered("index", 0, "delta", delta, "finish_reason", null));
      }
      case Part.Text(int index, long id, String text) when form.style() == Form.Style.GENERATE ->
          ordered(
              "index",
              index,
              "token",
              ordered("id", id, "text", text),
              "generated_text",
              null,
              "details",
              null);
      case Part.Text(_, _, String text) -> chunk(form, choice(form, text, null));
      case Part.End end when form.style() == Form.Style.GENERATE ->
          ordered("index", end.ids().size(), "generated_text", end.text(), "details", details(end));
      case Part.End end -> chunk(form, choice(form, null, reason(end)));
      case Part.Usage(var end) -> {
        var chunk = chunk(form);
        chunk.put("usage", usage(end));
        yield chunk;
      }
      case Part.Done _ -> throw new IllegalArgumentException("the end of a stream is no object");
    };
  }

  /// The whole answer.
  static Map<String, Object> whole(Part.End end, Form form) {
    if (form.style() == Form.Style.GENERATE) {
      return ordered("generated_text", end.text(), "details", details(end));
    }
    boolean chat = form.style() == Form.Style.CHAT;
    var choice =
        chat
            ? ordered(
                "index",
                0,
                "message",
                ordered("role", "assistant", "content", end.text()),
                "finish_reason",
                reason(end))
            : ordered("index", 0, "text", end.text(), "finish_reason", reason(end));
    var answer = head(form, chat ? "chat.completion" : "text_completion");
    answer.put("choices", List.of(choice));
    answer.put("usage", usage(end));
    return answer;
  }

  private static Map<String, Object> chunk(Form form, Object... choices) {
    var chunk =
        head(form, form.style() == Form.Style.CHAT ? "chat.completion.chunk" : "text_completion");
    chunk.put("choices", List.of(choices));
    return chunk;
  }

  /// @param text null where there is no more
  private static Map<String, Object> choice(Form form, String text, String reason) {
    if (form.style() == Form.Style.COMPLETION) {
      return ordered("index", 0, "text", text == null ? "" : text, "finish_reason", reason);
    }
    var delta = text == null ? Map.of() : Map.of("content", text);
    return ordered("index", 0, "delta", delta, "finish_reason", reason);
  }

  private static Map<String, Object> head(Form form, String object) {
    var id = (form.style() == Form.Style.CHAT ? "chatcmpl-" : "cmpl-") + form.id();
    return ordered("id", id, "object", object, "created", form.created(), "model", form.model());
  }

  private static Map<String, Object> details(Part.End end) {
    var reason =
        switch (end.reason()) {
          case END_OF_TEXT -> "eos_token";
          case STOP -> "stop_sequence";
          case LENGTH -> "length";
        };
    return ordered(
        "finish_reason",
        reason,
        "generated_tokens",
        end.ids().size(),
        "prompt_tokens",
        end.promptTokens(),
        "cached_tokens",
        end.cachedTokens(),
        "token_ids",
        end.ids());
  }

  private static String reason(Part.End end) {
    return end.reason() == Part.Reason.LENGTH ? "length" : "stop";
  }

  private static Map<String, Object> usage(Part.End end) {
    int own = end.ids().size();
    return ordered(
        "prompt_tokens",
        end.promptTokens(),
        "completion_tokens",
        own,
        "total_tokens",
        end.promptTokens() + own,
        "prompt_tokens_details",
        Map.of("cached_tokens", end.cachedTokens()));
  }

  private static Map<String, Object> ordered(Object... namesAndValues) {
    var map = new LinkedHashMap<String, Object>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      map.put((String) namesAndValues[i], namesAndValues[i + 1]);
    }
    return map;
  }
}
