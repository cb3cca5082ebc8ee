package dev.berth.hub;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.artifact.Agreement;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import dev.berth.hub.HubTask.Passage;
import dev.berth.inprocess.InProcessModel;
import dev.berth.json.JsonText;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// What a model is asked while it is packed, and how far two files of it give the same answers.
final class Trial {

    /// The share of equal answers, as in `trace.py`.
    private static final double GOOD = 0.9;

    /// How near two numbers of a model of one class must be, measured by how far apart those of
    /// different texts are.
    private static final double SAME_NUMBER = 0.05;

    private static final int LONGEST_CONTEXT = 2000;

    private final HubTask task;
    private final ObjectNode description;
    private final ObjectNode sample;
    private final List<ObjectNode> requests;

    Trial(HubTask task, HubModel model) throws IOException {
        this.task = task;
        this.description = model.description;
        this.requests = task.requests(passages(), model).distinct().toList();
        this.sample = requests.getFirst().deepCopy().without("parameters");
    }

    private static List<Passage> passages() throws IOException {
        try (var lines = Trial.class.getResourceAsStream("questions.jsonl")) {
            return JsonText.readAll(lines.readAllBytes()).stream()
                    .map(line -> new Passage(
                            line.path("question").asText(), line.path("context").asText()))
                    .filter(passage ->
                            !passage.question().isBlank() && !passage.context().isBlank())
                    .filter(passage -> passage.context().length() <= LONGEST_CONTEXT)
                    .toList();
        }
    }

    ObjectNode sample() {
        return sample;
    }

    /// The answers to the sample and to all that is asked. What a model refuses has none.
    ///
    /// @throws ServingException when it does not answer the sample
    List<JsonNode> ask(InProcessModel loaded) throws IOException {
        var answers = new ArrayList<>(List.of(ask(loaded, sample)));
        for (var request : requests) {
            try {
                answers.add(ask(loaded, request));
            } catch (ServingException _) {
                answers.add(MissingNode.getInstance());
            }
        }
        return answers;
    }

    private static JsonNode ask(InProcessModel loaded, ObjectNode body) throws IOException {
        return JsonText.read(loaded.invoke(MediaType.JSON, JsonText.bytes(body), MediaType.JSON)
                .body());
    }

    static boolean agrees(Agreement agreement) {
        return agreement.sameAnswers() >= GOOD * agreement.questions();
    }

    /// @param full the answers of the file that is right
    Agreement compare(List<JsonNode> full, List<JsonNode> others) {
        var numbers = full.stream()
                .skip(1)
                .mapToDouble(answer -> answer.at("/0/score").asDouble())
                .summaryStatistics();
        double near = SAME_NUMBER * (numbers.getMax() - numbers.getMin());
        int questions = 0;
        int same = 0;
        double apart = 0;
        for (int i = 1; i < full.size(); i++) {
            var one = full.get(i);
            var other = others.get(i);
            if (!one.isMissingNode()) {
                questions++;
                same += task.isSame(one, other, description, near) ? 1 : 0;
                apart = Math.max(apart, task.difference(one, other));
            }
        }
        return new Agreement(questions, same, Math.clamp(apart, 0, 1));
    }
}
