package dev.berth.content;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.hooks.BadInputException;
import java.util.List;
import java.util.Map;

/// The records of a JSON body, as TensorFlow Serving, MLflow and AWS's containers take them.
///
/// ```
/// {"instances": [A, B]}      two records; answered by {"predictions": [a, b]}
/// {"dataframe_split": {"columns": […], "data": [A, B]}}  the same, where A is a row: a list
/// {"dataframe_records": [A, B]}  the same, where A is a row: an object
/// [A, B]                     two records, where A is a list or an object; answered by [a, b]
/// A                          one record, anything else: an object, a number, a list of numbers; answered by a
/// ```
///
/// @param values the records
/// @param form how they were written
public record Instances(List<JsonNode> values, Form form) {

    private static final String SPLIT = "dataframe_split";
    private static final String RECORDS = "dataframe_records";

    /// How the records of a body are written, and so how its predictions are.
    public enum Form {
        INSTANCES("instances[%d]", "predictions"),
        SPLIT("dataframe_split.data[%d]", "predictions"),
        RECORDS("dataframe_records[%d]", "predictions"),
        LIST("[%d]", ""),
        ONE("body", ""),
        /// `{"inputs": A}`, answered by `{"outputs": a}`: a batch as one value. Only for tensors,
        /// [#read] never gives it.
        COLUMNS("body", "outputs");

        /// What messages call a record.
        private final String record;

        /// The name of the answer in the object around it; empty: there is none.
        private final String answer;

        Form(String record, String answer) {
            this.record = record;
            this.answer = answer;
        }
    }

    public Instances {
        values = List.copyOf(values);
    }

    /// @throws BadInputException when `instances` or the rows of a data frame are no list
    public static Instances read(JsonNode body) {
        if (body.has("instances")) {
            return read(body.path("instances"), "instances", Form.INSTANCES);
        }
        if (body.has(SPLIT)) {
            return read(body.path(SPLIT).path("data"), SPLIT + ".data", Form.SPLIT);
        }
        if (body.has(RECORDS)) {
            return read(body.path(RECORDS), RECORDS, Form.RECORDS);
        }
        if (body.isArray() && (body.isEmpty() || body.path(0).isContainerNode())) {
            return new Instances(body.valueStream().toList(), Form.LIST);
        }
        return new Instances(List.of(body), Form.ONE);
    }

    private static Instances read(JsonNode list, String name, Form form) {
        if (!list.isArray()) {
            throw Excerpt.bad(name, list, "a list");
        }
        return new Instances(list.valueStream().toList(), form);
    }

    /// What messages call a record of a body in some form: `instances[2]`, `[2]`, or `body`.
    public String name(int index) {
        return form.record.formatted(index);
    }

    /// The predictions of records in a form, as one value for [Json#write].
    public static Object answer(List<?> predictions, Form form) {
        return form != Form.ONE
                ? around(predictions, form)
                : predictions.isEmpty() ? JsonNodeFactory.instance.nullNode() : predictions.getFirst();
    }

    /// What stands for all predictions, with what a form has around them.
    static Object around(Object predictions, Form form) {
        return form.answer.isEmpty() ? predictions : Map.of(form.answer, predictions);
    }
}
