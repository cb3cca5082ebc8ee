package dev.berth.hub;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A task whose models are served as they lie on Hugging Face's hub: what `model.json` would say of
/// them, and whether two files of one model answer alike. `serve pack` asks, and so does a server
/// whose `--model-dir` is such a directory. One thread calls it.
abstract class HubTask {

    /// A question and a text that may answer it, in English.
    record Passage(String question, String context) {}

    /// What `model.json` calls it.
    final String name;

    /// How the names of the architectures of its models end, such as `ForQuestionAnswering`.
    final String architecture;

    HubTask(String name, String architecture) {
        this.name = name;
        this.architecture = architecture;
    }

    /// What shows that a model is one of this task, for people. Empty: it is not.
    Optional<String> shownBy(HubModel model) {
        return Optional.of(model.architecture()).filter(end -> end.endsWith(architecture));
    }

    /// Whether a tokenizer lies beside its models.
    boolean readsTokens() {
        return true;
    }

    /// Adds to the model's description what the task needs, such as outputs, shapes and labels.
    ///
    /// @throws dev.berth.artifact.ModelArtifactException when the model can't be served
    void describe(HubModel model) {
        model.outputs("logits", "logits");
        model.rows();
    }

    /// What both files of a model are asked, as the bodies of requests. The first one without its
    /// `parameters` is the sample of the artifact.
    List<ObjectNode> requests(List<Passage> passages, HubModel model) throws IOException {
        return passages.stream()
                .map(passage -> request(passage.context(), Map.of()))
                .toList();
    }

    /// How far apart two answers to the same request are, from 0 to 1 for scores.
    double difference(JsonNode one, JsonNode other) {
        return Math.abs(score(one) - score(other));
    }

    /// Whether two answers are the same as far as a caller minds.
    ///
    /// @param description of the model
    /// @param near how far apart two numbers of a model of one class may be
    abstract boolean isSame(JsonNode one, JsonNode other, JsonNode description, double near);

    private static double score(JsonNode answer) {
        return (answer.isArray() ? answer.path(0) : answer).path("score").asDouble();
    }

    /// The body of a request.
    static ObjectNode request(Object input, Map<String, ?> parameters) {
        var body = JsonNodeFactory.instance.objectNode().putPOJO("inputs", input);
        return parameters.isEmpty() ? body : body.putPOJO("parameters", parameters);
    }
}
