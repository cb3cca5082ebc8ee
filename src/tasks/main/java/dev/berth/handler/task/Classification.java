package dev.berth.handler.task;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/// What tasks have in common whose answers are labels with scores.
public abstract class Classification extends HubTask {

    protected Classification(String name, String architecture, Function<Path, TracedHandler<?, ?, ?>> handler) {
        super(name, architecture, handler);
    }

    /// More than any model has.
    protected static final int ALL_LABELS = 100_000;

    /// Writes the labels, and the function that makes scores.
    ///
    /// @param mayBeNumber whether the one output of a model may be a number, and no class
    protected static void labels(HubFiles model, ObjectNode json, boolean mayBeNumber) {
        int count = model.labels(json).size();
        var problem = model.json("config.json").path("problem_type").asText();
        var function = mayBeNumber && problem.equals("regression")
                ? ScoreFunction.NONE
                : problem.equals("multi_label_classification") ? ScoreFunction.SIGMOID : ScoreFunction.usual(count);
        json.putObject("parameters").put("function_to_apply", function.name().toLowerCase(Locale.ROOT));
    }

    protected static boolean hasOneClass(JsonNode json) {
        return json.path("labels").size() == 1;
    }

    /// The same best label, and the same likely ones where a record may have several.
    @Override
    public boolean isSame(JsonNode one, JsonNode other, JsonNode json, double near) {
        if (hasOneClass(json)) {
            return difference(one, other) <= near;
        }
        boolean hasSeveral = json.at("/parameters/function_to_apply").asText().equals("sigmoid");
        return one.at("/0/label").equals(other.at("/0/label"))
                && (!hasSeveral || likely(one).equals(likely(other)));
    }

    private static List<String> likely(JsonNode answer) {
        return answer.valueStream()
                .filter(label -> label.path("score").asDouble() > 0.5)
                .map(label -> label.path("label").asText())
                .sorted()
                .toList();
    }
}
