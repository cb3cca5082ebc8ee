package dev.berth.search;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.handler.task.Labels;
import dev.berth.handler.text.TextForm;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;

/// Texts that are ranked for a query: by text classification of pairs, with a model of one label.
///
/// @param parameters of the task. Without others scores lie between 0 and 1, and long texts are cut
/// @param most how many are answered
/// @param written makes the client's answer of the ranks, the best first
record Ranking(
        String query,
        SearchTexts texts,
        ObjectNode parameters,
        long most,
        Function<List<Ranking.Rank>, JsonNode> written)
        implements TextForm.Asked {

    /// @param index of the text in the request
    record Rank(int index, float score, String text) {}

    /// @param texts the field that has them
    static Ranking of(Fields fields, String texts, ObjectNode parameters, Function<List<Rank>, JsonNode> written) {
        var read = SearchTexts.read(fields, texts);
        return new Ranking(
                SearchTexts.text(fields.json("query"), "query").textValue(),
                read,
                parameters,
                fields.integer("top_n", 1, Integer.MAX_VALUE)
                        .orElse((long) read.texts().size()),
                written);
    }

    @Override
    public ObjectNode body() {
        var nodes = JsonNodeFactory.instance;
        var pairs = texts.texts().stream()
                .map(text -> nodes.objectNode().put("text", query).<ObjectNode>set("text_pair", text))
                .toList();
        // All labels, so that a model with several is seen.
        ObjectNode all = nodes.objectNode().put("function_to_apply", "sigmoid").put("truncation", true);
        return TextForm.body(pairs, all.<ObjectNode>setAll(parameters).putNull("top_k"));
    }

    @Override
    public String named(String message) {
        return texts.named(message);
    }

    @Override
    public InvocationResponse answer(List<?> answers, int tokens) {
        var ranks = IntStream.range(0, answers.size())
                .mapToObj(i -> new Rank(
                        i, score((List<?>) answers.get(i)), texts.texts().get(i).textValue()))
                .sorted(Comparator.comparingDouble(rank -> -rank.score))
                .limit(most)
                .toList();
        return InvocationResponse.of(Json.write(written.apply(ranks)), MediaType.JSON);
    }

    private static float score(List<?> labels) {
        if (labels.size() != 1) {
            throw new BadInputException(
                    "query: found a model of %d labels, expected a reranker, which has one".formatted(labels.size()));
        }
        return ((Labels.Scored) labels.getFirst()).score();
    }
}
