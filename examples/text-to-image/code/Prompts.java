import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.AnswerFile;
import dev.berth.content.Excerpt;
import dev.berth.content.Fields;
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

    private static final List<String> FIELDS = List.of("prompt", "seed", "steps", "n", "output_format");
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
        var pictures = Arrays.stream(Format.values())
                .filter(format -> format.type().sameTypeAs(request.accept()))
                .findFirst();
        var prompts = new ArrayList<Prompt>();
        boolean alone = false;
        if (request.contentType().sameTypeAs(MediaType.TEXT)) {
            alone = true;
            prompts.add(new Prompt(
                    tokens(request.text(), "body"), DEFAULT_STEPS, seeds(anySeed(), 1), pictures.orElse(Format.PNG)));
        } else if (request.contentType().sameTypeAs(MediaType.JSON_LINES)) {
            for (var line : JsonLines.read(request)) {
                prompts.add(prompt(line.json(), line.name() + ": body", pictures));
            }
        } else {
            var body = request.json();
            alone = !body.isArray();
            for (int i = 0; i < (alone ? 1 : body.size()); i++) {
                prompts.add(prompt(alone ? body : body.path(i), alone ? "body" : "[%d]".formatted(i), pictures));
            }
        }
        if (pictures.isPresent()) {
            // Before they are drawn.
            AnswerFile.requireOne(
                    prompts.stream().mapToInt(prompt -> prompt.seeds().size()).sum(), request.accept());
        }
        return new Read(prompts, alone);
    }

    /// @param name what messages call the prompt
    /// @param format the one that `Accept` names
    private Prompt prompt(JsonNode json, String name, Optional<Format> format) {
        var fields = Fields.of(json, name, FIELDS);
        var text = fields.text("prompt").orElseThrow(() -> fields.bad("prompt", "a text"));
        long seed = fields.integer("seed", 0, LARGEST_SEED).orElseGet(Prompts::anySeed);
        return new Prompt(
                tokens(text, fields.name("prompt")),
                fields.integer("steps", 1, MOST_STEPS, DEFAULT_STEPS),
                seeds(seed, fields.integer("n", 1, MOST_PICTURES, 1)),
                format.orElse(fields.choice("output_format", Format.PNG)));
    }

    /// @throws BadInputException naming the first word that it does not know, and those that it does
    long[] tokens(String prompt, String name) {
        var found = Arrays.stream(prompt.toLowerCase(Locale.ROOT).split("[\\s.,!]+"))
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
                throw new BadInputException("%s: found the word %s, expected words that it knows: %s"
                        .formatted(
                                name, Excerpt.quoted(found.get(i)), String.join(", ", words.subList(1, words.size()))));
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
}
