import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.AnswerFile;
import dev.berth.content.Excerpt;
import dev.berth.content.Json;
import dev.berth.content.JsonLines;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;

/// Reads requests: a text, a JSON object or a list of those, JSON Lines.
final class Prompts {

  private static final List<String> FIELDS =
      List.of("prompt", "seed", "steps", "n", "output_format");
  private static final int MOST_WORDS = 10;
  private static final int MOST_STEPS = 100;
  private static final int DEFAULT_STEPS = 20;
  private static final int MOST_PICTURES = 8;

  /// As Stable Diffusion has it.
  private static final long LARGEST_SEED = 4_294_967_295L;

  /// @param alone whether the body is one prompt, and so answered by one object
  record Read(List<Prompt> prompts, boolean alone) {}

  /// A word's line is its token. The first one is empty: what a short prompt ends with.
  private final List<String> words;

  Prompts(Path file) throws IOException {
    this.words = Files.readAllLines(file);
  }

  Read read(InvocationRequest request) throws IOException {
    var pictures =
        Arrays.stream(Format.values())
            .filter(format -> format.type().sameTypeAs(request.accept()))
            .findFirst();
    var prompts = new ArrayList<Prompt>();
    boolean alone = false;
    if (request.contentType().sameTypeAs(MediaType.TEXT)) {
      alone = true;
      prompts.add(
          new Prompt(
              tokens(request.text(), "body"),
              DEFAULT_STEPS,
              seeds(anySeed(), 1),
              pictures.orElse(Format.PNG)));
    } else if (request.contentType().sameTypeAs(MediaType.JSON_LINES)) {
      for (var line : JsonLines.read(request)) {
        prompts.add(prompt(line.json(), line.name() + ": ", pictures));
      }
    } else {
      var body = Json.read(request);
      alone = !body.isArray();
      for (int i = 0; i < (alone ? 1 : body.size()); i++) {
        prompts.add(
            prompt(alone ? body : body.path(i), alone ? "" : "[%d].".formatted(i), pictures));
      }
    }
    if (pictures.isPresent()) {
      // Before they are drawn.
      AnswerFile.requireOne(
          prompts.stream().mapToInt(prompt -> prompt.seeds().size()).sum(), request.accept());
    }
    return new Read(prompts, alone);
  }

  /// @param prefix of a field's name in messages
  /// @param format the one that `Accept` names
  private Prompt prompt(JsonNode json, String prefix, Optional<Format> format) {
    if (!json.isObject()) {
      throw new BadInputException(
          "%sbody: found %s, expected an object with a prompt".formatted(prefix, Excerpt.of(json)));
    }
    json.fieldNames()
        .forEachRemaining(
            field -> {
              if (!FIELDS.contains(field)) {
                throw new BadInputException(
                    "%sbody: found the field %s, expected only %s"
                        .formatted(prefix, Excerpt.quoted(field), String.join(", ", FIELDS)));
              }
            });
    var text = json.path("prompt");
    if (!text.isTextual()) {
      throw new BadInputException(
          "%sprompt: found %s, expected a text".formatted(prefix, Excerpt.of(text)));
    }
    return new Prompt(
        tokens(text.textValue(), prefix + "prompt"),
        (int) number(json, "steps", prefix, 1, MOST_STEPS, DEFAULT_STEPS),
        seeds(
            number(json, "seed", prefix, 0, LARGEST_SEED, anySeed()),
            (int) number(json, "n", prefix, 1, MOST_PICTURES, 1)),
        format.orElse(ownFormat(json.path("output_format"), prefix)));
  }

  /// @throws BadInputException naming the first word that it does not know, and those that it does
  long[] tokens(String prompt, String name) {
    var found =
        Arrays.stream(prompt.toLowerCase(Locale.ROOT).split("[\\s.,!]+"))
            .filter(word -> !word.isEmpty())
            .toList();
    if (found.isEmpty() || found.size() > MOST_WORDS) {
      throw new BadInputException(
          "%s: found %d words, expected 1 to %d".formatted(name, found.size(), MOST_WORDS));
    }
    var tokens = new long[MOST_WORDS];
    for (int i = 0; i < found.size(); i++) {
      int token = words.indexOf(found.get(i).equals("an") ? "a" : found.get(i));
      if (token < 0) {
        throw new BadInputException(
            "%s: found the word %s, expected words that it knows: %s"
                .formatted(
                    name,
                    Excerpt.quoted(found.get(i)),
                    String.join(", ", words.subList(1, words.size()))));
      }
      tokens[i] = token;
    }
    return tokens;
  }

  private static long anySeed() {
    return ThreadLocalRandom.current().nextLong(LARGEST_SEED + 1);
  }

  /// Numbers that follow each other, and 0 the largest.
  private static List<Long> seeds(long first, int count) {
    return LongStream.range(first, first + count)
        .map(seed -> seed % (LARGEST_SEED + 1))
        .boxed()
        .toList();
  }

  private static long number(
      JsonNode json, String field, String prefix, long least, long most, long otherwise) {
    var value = json.path(field);
    if (value.isMissingNode() || value.isNull()) {
      return otherwise;
    }
    if (!value.isIntegralNumber()
        || !value.canConvertToLong()
        || value.longValue() < least
        || value.longValue() > most) {
      throw new BadInputException(
          "%s%s: found %s, expected a whole number from %d to %d"
              .formatted(prefix, field, Excerpt.of(value), least, most));
    }
    return value.longValue();
  }

  private static Format ownFormat(JsonNode value, String prefix) {
    if (value.isMissingNode() || value.isNull()) {
      return Format.PNG;
    }
    return Arrays.stream(Format.values())
        .filter(format -> format.toString().equals(value.textValue()))
        .findFirst()
        .orElseThrow(
            () ->
                new BadInputException(
                    "%soutput_format: found %s, expected one of %s"
                        .formatted(prefix, Excerpt.of(value), Arrays.toString(Format.values()))));
  }
}
