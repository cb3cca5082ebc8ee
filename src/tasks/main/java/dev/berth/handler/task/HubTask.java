package dev.berth.handler.task;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/// A task whose models are served as they lie on Hugging Face's hub: what `model.json` would say of
/// them, and whether two files of one model answer alike. `serve pack` asks, and so does a server
/// whose `--model-dir` is such a directory. One thread calls it.
public abstract class HubTask implements Task {

    /// A question and a text that may answer it, in English.
    public record Passage(String question, String context) {}

    private final String name;
    private final String architecture;
    private final Function<Path, TracedHandler<?, ?, ?>> handler;

    /// @param name what `model.json` calls it
    /// @param architecture how the names of the architectures of its models end, such as
    ///   `ForQuestionAnswering`
    /// @param handler makes the handler of an artifact
    protected HubTask(String name, String architecture, Function<Path, TracedHandler<?, ?, ?>> handler) {
        this.name = name;
        this.architecture = architecture;
        this.handler = handler;
    }

    @Override
    public final String name() {
        return name;
    }

    @Override
    public final TracedHandler<?, ?, ?> open(Path directory) {
        return handler.apply(directory);
    }

    public final String architecture() {
        return architecture;
    }

    /// What shows that a model is one of this task, for people. Empty: it is not.
    public Optional<String> shownBy(HubFiles model) {
        return Optional.of(model.architecture()).filter(end -> end.endsWith(architecture));
    }

    /// Whether a tokenizer lies beside its models.
    public boolean readsTokens() {
        return true;
    }

    /// Adds to `model.json` what the task needs, such as outputs, shapes and labels.
    ///
    /// @throws dev.berth.artifact.ModelArtifactException when the model can't be served
    public abstract void describe(HubFiles model, ObjectNode json);

    /// What both files of a model are asked, as the bodies of requests. The first one without its
    /// `parameters` is the sample of the artifact.
    ///
    /// @param json what [#describe] has made
    public List<ObjectNode> requests(List<Passage> passages, HubFiles model, ObjectNode json) throws IOException {
        return passages.stream()
                .map(passage -> request(passage.context(), Map.of()))
                .toList();
    }

    /// How far apart two answers to the same request are, from 0 to 1 for scores.
    public double difference(JsonNode one, JsonNode other) {
        return Math.abs(score(one) - score(other));
    }

    /// Whether two answers are the same as far as a caller minds.
    ///
    /// @param json what [#describe] has made
    /// @param near how far apart two numbers of a model of one class may be
    public abstract boolean isSame(JsonNode one, JsonNode other, JsonNode json, double near);

    private static double score(JsonNode answer) {
        return (answer.isArray() ? answer.path(0) : answer).path("score").asDouble();
    }

    /// The body of a request.
    protected static ObjectNode request(Object input, Map<String, ?> parameters) {
        var body = JsonNodeFactory.instance.objectNode().putPOJO("inputs", input);
        return parameters.isEmpty() ? body : body.putPOJO("parameters", parameters);
    }
}
