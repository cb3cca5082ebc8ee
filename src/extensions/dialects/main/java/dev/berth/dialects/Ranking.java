package dev.berth.dialects;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.dialects.JsonDialect.Answer;
import dev.berth.dialects.JsonDialect.Asked;
import dev.berth.hooks.BadInputException;
import java.util.Comparator;
import java.util.List;
import java.util.function.BiFunction;
import java.util.stream.IntStream;

/// Texts that are ranked for a query: by text classification of pairs, with a model of one label.
///
/// @param most how many are answered
/// @param function makes the score of what the model says, in the words of the task
/// @param truncation whether pairs that are too long are cut
record Ranking(String query, List<String> texts, long most, String function, boolean truncation) {

    /// One of the texts.
    ///
    /// @param index of the text in the request
    record Rank(int index, double score) {}

    /// @param answer makes the client's answer of the ranks, the best first
    Asked asked(BiFunction<Answer, List<Rank>, Object> answer) {
        var nodes = JsonNodeFactory.instance;
        ObjectNode parameters = nodes.objectNode();
        // All labels, so that a model with several is seen.
        parameters.putNull("top_k").put("function_to_apply", function).put("truncation", truncation);
        var pairs = texts.stream()
                .map(text -> nodes.objectNode().put("text", query).put("text_pair", text))
                .toList();
        return Asked.of(pairs, parameters, answered -> answer.apply(answered, ranks(answered.json())));
    }

    private List<Rank> ranks(JsonNode answers) {
        return IntStream.range(0, texts.size())
                .mapToObj(i -> new Rank(i, score(answers.path(i))))
                .sorted(Comparator.comparingDouble((Rank rank) -> -rank.score))
                .limit(most)
                .toList();
    }

    private static double score(JsonNode labels) {
        if (labels.size() != 1) {
            throw new BadInputException("model: found %d labels for a text, expected a reranker, whose model has one"
                    .formatted(labels.size()));
        }
        return labels.path(0).path("score").doubleValue();
    }
}
