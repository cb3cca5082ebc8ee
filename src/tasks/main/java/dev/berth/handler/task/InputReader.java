package dev.berth.handler.task;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.TracedArtifact;
import dev.berth.content.Documents;
import dev.berth.content.Fields;
import dev.berth.hooks.BadInputException;
import dev.berth.json.JsonText;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Reads the forms that all tasks have: an input, a list of inputs, or either as `{"inputs": …,
/// "parameters": {…}}`; with JSON Lines one input a line, which may have parameters of its own.
/// Safe for use by many threads.
///
/// @param <P> the parameters of the task
public final class InputReader<P> {

    private final List<String> known;
    private final BiFunction<P, Fields, P> read;
    private final P defaults;

    /// @param known the names of the task's parameters
    /// @param read reads them over others
    /// @param usual the task's defaults, over which `model.json` may put others
    /// @throws ModelArtifactException when `model.json` has wrong ones
    public InputReader(TracedArtifact artifact, List<String> known, BiFunction<P, Fields, P> read, P usual) {
        this.known = known;
        this.read = read;
        try {
            var json = JsonText.tree(artifact.header().parameters());
            this.defaults = read.apply(usual, Fields.of(json, "model.json: parameters", known));
        } catch (BadInputException e) {
            throw new ModelArtifactException(artifact.directory(), e.getMessage(), e);
        }
    }

    /// The inputs of a request, each to be read for itself, so that a bad line fails alone.
    ///
    /// @param listed the inputs of a body by what messages call them, where a task has more forms
    /// @throws BadInputException when the body as a whole is a bad one
    List<Supplier<TaskInput<P>>> inputs(Documents documents, BiFunction<JsonNode, String, JsonNode> listed) {
        return switch (documents) {
            case Documents.Body(var json) ->
                body(json, listed)
                        .<Supplier<TaskInput<P>>>map(input -> () -> input)
                        .toList();
            case Documents.Records(var records) ->
                records.stream()
                        .<Supplier<TaskInput<P>>>map(document ->
                                () -> input(document.json(), document.name(), document.name() + ": ", false))
                        .toList();
        };
    }

    private Stream<TaskInput<P>> body(JsonNode body, BiFunction<JsonNode, String, JsonNode> listed) {
        var whole = input(body, "body", "", true);
        var inputs = listed.apply(whole.json(), whole.name());
        if (!inputs.isArray()) {
            return Stream.of(new TaskInput<>(inputs, whole.name(), whole.parameters(), true));
        }
        var name = whole.name().equals("body") ? "" : whole.name();
        return IntStream.range(0, inputs.size())
                .mapToObj(i -> new TaskInput<>(inputs.path(i), "%s[%d]".formatted(name, i), whole.parameters(), false));
    }

    /// @param name what messages call `json`
    /// @param prefix of what they call its parts
    private TaskInput<P> input(JsonNode json, String name, String prefix, boolean alone) {
        boolean named = json.isObject() && json.has("inputs");
        var parameters = read.apply(defaults, Fields.of(json.path("parameters"), prefix + "parameters", known));
        return new TaskInput<>(named ? json.path("inputs") : json, named ? prefix + "inputs" : name, parameters, alone);
    }
}
