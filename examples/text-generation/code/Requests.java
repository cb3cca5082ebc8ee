import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.berth.content.Excerpt;
import dev.berth.content.Json;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;
import java.util.stream.StreamSupport;

/// Reads a body of any of the forms: plain text, `inputs`, `prompt` or `messages`.
final class Requests {

  private static final int MOST_STOPS = 4;
  private static final List<String> ROLES = List.of("system", "user", "assistant");

  private final Language language;

  Requests(Language language) {
    this.language = language;
  }

  Task read(InvocationRequest request) throws IOException {
    if (request.contentType().withoutParameters().equals(MediaType.TEXT)) {
      var nothing = MissingNode.getInstance();
      return task(request, ids(request.text(), "body"), nothing, "", generated(request));
    }
    var body = Json.read(request);
    if (body.has("messages")) {
      return task(request, messages(body.path("messages")), body, "", Form.Style.CHAT);
    }
    if (body.has("prompt")) {
      return task(request, ids(body.path("prompt"), "prompt"), body, "", Form.Style.COMPLETION);
    }
    if (body.has("inputs")) {
      return task(
          request, ids(body.path("inputs"), "inputs"), body, "parameters", generated(request));
    }
    throw new BadInputException(
        "body: found %s, expected an object with messages, prompt or inputs"
            .formatted(Excerpt.of(body)));
  }

  private static Form.Style generated(InvocationRequest request) {
    return request.accept().equals(MediaType.TEXT) ? Form.Style.TEXT : Form.Style.GENERATE;
  }

  private static Form form(Form.Style style, JsonNode body, InvocationRequest request) {
    var stream = flag(body, "stream", "");
    return new Form(
        style,
        stream,
        flag(body.path("stream_options"), "include_usage", "stream_options.").orElse(false),
        body.path("model").asText("text-generation"),
        request.inferenceId(),
        Instant.now().getEpochSecond());
  }

  /// @param member what holds the parameters, where that is not the body itself
  private Task task(
      InvocationRequest request, long[] prompt, JsonNode body, String member, Form.Style style) {
    var parameters = member.isEmpty() ? body : body.path(member);
    var prefix = member.isEmpty() ? "" : member + ".";
    number(parameters, "n", prefix, 1, 1);
    var talk = request.session(Talk.class);
    int tokens = talk.map(Talk::size).orElse(0) + prompt.length;
    int room = language.context() - tokens;
    if (room < 1) {
      throw new BadInputException(
          "the prompt: found %d tokens, expected at most %d, as the model reads %d with its own"
              .formatted(tokens, language.context() - 1, language.context()));
    }
    var most =
        List.of("max_tokens", "max_completion_tokens", "max_new_tokens").stream()
            .flatMap(name -> number(parameters, name, prefix, 1, room).stream())
            .findFirst();
    return new Task(
        prompt,
        most.map(Double::intValue).orElse(room),
        stops(parameters, prefix),
        new Sampler.Settings(
            number(parameters, "temperature", prefix, 0, 2).orElse(0.0),
            number(parameters, "top_k", prefix, 0, Integer.MAX_VALUE)
                .map(Double::intValue)
                .orElse(0),
            number(parameters, "top_p", prefix, 0, 1).orElse(1.0),
            seed(parameters, prefix)),
        form(style, body, request),
        talk);
  }

  /// A mark with the role, the text and the mark `end` of each message, then the mark for the
  /// answer to write.
  private long[] messages(JsonNode messages) {
    if (!messages.isArray() || messages.isEmpty()) {
      throw new BadInputException(
          "messages: found %s, expected a list of messages"
              .formatted(messages.isArray() ? "an empty list" : Excerpt.of(messages)));
    }
    var ids = LongStream.builder();
    for (int i = 0; i < messages.size(); i++) {
      var name = "messages[%d].".formatted(i);
      var role = messages.path(i).path("role");
      if (!ROLES.contains(role.asText())) {
        throw new BadInputException(
            "%srole: found %s, expected one of %s".formatted(name, Excerpt.of(role), ROLES));
      }
      ids.add(language.mark(role.textValue()));
      Arrays.stream(language.ids(content(messages.path(i).path("content"), name + "content")))
          .forEach(ids::add);
      ids.add(language.mark("end"));
    }
    return ids.add(language.mark("assistant")).build().toArray();
  }

  /// A text, or a list of parts `{"type": "text", "text": …}`.
  private static String content(JsonNode content, String name) {
    if (!content.isArray()) {
      return text(content, name);
    }
    var texts = new StringBuilder();
    for (int i = 0; i < content.size(); i++) {
      texts.append(text(content.path(i).path("text"), "%s[%d].text".formatted(name, i)));
    }
    return texts.toString();
  }

  private long[] ids(JsonNode text, String name) {
    return ids(text(text, name), name);
  }

  private long[] ids(String text, String name) {
    if (text.isEmpty()) {
      throw new BadInputException(name + ": found an empty text, expected one to go on with");
    }
    return language.ids(text);
  }

  private static String text(JsonNode text, String name) {
    if (!text.isTextual()) {
      throw new BadInputException(
          "%s: found %s, expected a text".formatted(name, Excerpt.of(text)));
    }
    return text.textValue();
  }

  private static List<String> stops(JsonNode parameters, String prefix) {
    var stop = parameters.path("stop");
    if (stop.isMissingNode() || stop.isNull()) {
      return List.of();
    }
    var words = new ArrayList<String>();
    var all =
        stop.isArray() ? StreamSupport.stream(stop.spliterator(), false).toList() : List.of(stop);
    for (var word : all) {
      words.add(text(word, prefix + "stop"));
    }
    if (words.size() > MOST_STOPS || words.contains("")) {
      throw new BadInputException(
          "%sstop: found %s, expected at most %d words, none of them empty"
              .formatted(prefix, stop, MOST_STOPS));
    }
    return words;
  }

  private static long seed(JsonNode parameters, String prefix) {
    var seed = parameters.path("seed");
    if (seed.isMissingNode() || seed.isNull()) {
      return ThreadLocalRandom.current().nextLong();
    }
    if (!seed.isIntegralNumber() || !seed.canConvertToLong()) {
      throw new BadInputException(
          "%sseed: found %s, expected a whole number of 64 bits"
              .formatted(prefix, Excerpt.of(seed)));
    }
    return seed.longValue();
  }

  private static Optional<Boolean> flag(JsonNode object, String name, String prefix) {
    var value = object.path(name);
    if (value.isMissingNode() || value.isNull()) {
      return Optional.empty();
    }
    if (!value.isBoolean()) {
      throw new BadInputException(
          "%s%s: found %s, expected true or false".formatted(prefix, name, Excerpt.of(value)));
    }
    return Optional.of(value.booleanValue());
  }

  private static Optional<Double> number(
      JsonNode parameters, String name, String prefix, int least, int most) {
    var value = parameters.path(name);
    if (value.isMissingNode() || value.isNull()) {
      return Optional.empty();
    }
    boolean whole = !name.equals("temperature") && !name.equals("top_p");
    boolean inRange = value.doubleValue() >= least && value.doubleValue() <= most;
    if (!value.isNumber()
        || whole && !(value.isIntegralNumber() && value.canConvertToInt())
        || !inRange) {
      throw new BadInputException(
          "%s%s: found %s, expected %s from %d to %d"
              .formatted(
                  prefix,
                  name,
                  Excerpt.of(value),
                  whole ? "a whole number" : "a number",
                  least,
                  most));
    }
    return Optional.of(value.doubleValue());
  }
}
