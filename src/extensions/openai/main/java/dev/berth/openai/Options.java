package dev.berth.openai;

import dev.berth.content.Fields;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// How a text is to be written.
///
/// @param n how many texts, from 1 to 128
/// @param temperature from 0 to 2
/// @param topP from 0 to 1
/// @param stops the text ends before the first of them; at most four, none of them empty
/// @param fields all of them, for those that the handler reads itself
public record Options(
        int n,
        Optional<Double> temperature,
        Optional<Double> topP,
        Optional<Long> seed,
        List<String> stops,
        Fields fields) {

    /// What chat completions and completions have besides.
    static final List<String> FIELDS = List.of(
            "max_tokens", "max_completion_tokens", "temperature", "top_p", "stop", "seed", "stream", "stream_options");

    private static final int MOST_STOPS = 4;

    /// @param fields of OpenAI's names, or with text-generation-inference's `max_new_tokens`
    public static Options of(Fields fields) {
        var stops = fields.texts("stop").orElse(List.of());
        if (stops.size() > MOST_STOPS || stops.contains("")) {
            throw fields.bad("stop", "at most %d words, none of them empty".formatted(MOST_STOPS));
        }
        return new Options(
                fields.integer("n", 1, 128, 1),
                fields.number("temperature", 0, 2),
                fields.number("top_p", 0, 1),
                fields.integer("seed", Long.MIN_VALUE, Long.MAX_VALUE),
                stops,
                fields);
    }

    /// How many tokens the text may have.
    ///
    /// @param room how many there can be, which is what a caller who says nothing gets
    /// @throws dev.berth.hooks.BadInputException when more are asked for
    public int maxTokens(int room) {
        return Stream.of("max_completion_tokens", "max_tokens", "max_new_tokens")
                .flatMap(name -> fields.integer(name, 1, room).stream())
                .findFirst()
                .map(Long::intValue)
                .orElse(room);
    }
}
