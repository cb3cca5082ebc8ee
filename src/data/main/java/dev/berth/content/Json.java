package dev.berth.content;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.JsonReader;
import dev.berth.hooks.MediaType;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/// JSON (RFC 8259) in and out.
public final class Json extends ContentType implements ContentType.OfDocuments, ContentType.OfTensors, JsonReader {

    /// For [java.util.ServiceLoader].
    public Json() {
        super(List.of(MediaType.JSON), List.of("json"));
    }

    /// Reads the one value that a body holds.
    ///
    /// @throws BadInputException with the line and column where the body stops to be JSON
    public static JsonNode read(InvocationRequest request) throws IOException {
        return parse(request.text(), "body");
    }

    @Override
    public JsonNode readBody(String text) {
        return parse(text, "body");
    }

    /// Reads the one value that a text holds.
    ///
    /// @param name what messages call the text, such as `line 3`
    /// @throws BadInputException with the place where the text stops to be JSON
    public static JsonNode parse(String text, String name) {
        try {
            return JsonText.payload(text);
        } catch (NotJsonException e) {
            throw new BadInputException("%s: %s".formatted(name, e.getMessage()), e);
        }
    }

    /// Writes a value of plain Java: records, maps, lists, texts, numbers, [JsonNode]. Without line
    /// breaks, so that it may be a line of JSON Lines.
    public static String write(Object value) {
        return JsonText.write(value);
    }

    @Override
    public Documents readDocuments(InvocationRequest request, List<String> fields) throws IOException {
        return new Documents.Body(read(request));
    }

    @Override
    public InvocationResponse writeDocuments(
            List<?> documents, List<String> fields, Instances.Form form, MediaType accept) {
        return InvocationResponse.of(write(Instances.answer(documents, form)), accept);
    }

    /// The forms of [Instances], and TensorFlow Serving's column form: `{"inputs": …}` holds the
    /// batches of all records, input by input, and is answered by `{"outputs": …}`.
    @Override
    public TensorRecords readTensors(InvocationRequest request, TensorInputs inputs) throws IOException {
        var block = NumberBlock.read(request, inputs, NumberBlock.Text.JSON);
        if (block.isPresent()) {
            return block.get();
        }
        var body = read(request);
        if (body.has("inputs") && !inputs.names().contains("inputs")) {
            return TensorRecords.rows(
                    JsonTensors.columns(body.path("inputs"), inputs, "inputs"),
                    inputs,
                    "inputs",
                    Instances.Form.COLUMNS);
        }
        if (body.isNull()) {
            throw new BadInputException("body: found null, expected a JSON value");
        }
        var instances = Instances.read(body);
        var values = instances.values();
        boolean hasNames = inputs.names().size() > 1
                || (inputs.table().count() > 1 && !inputs.table().names().isEmpty());
        var columns = body.path("dataframe_split").path("columns");
        // pandas numbers columns that have no names.
        boolean isSplit =
                instances.form() == Instances.Form.SPLIT && columns.path(0).isTextual();
        boolean isRecords = instances.form() == Instances.Form.RECORDS;
        IntFunction<JsonNode> row = isSplit && hasNames
                ? i -> named(values.get(i), columns)
                : isRecords && !hasNames
                        ? i -> ordered(values.get(i), values.getFirst(), instances.name(i))
                        : values::get;
        return new TensorRecords(
                values.size(), i -> JsonTensors.record(row.apply(i), inputs, instances.name(i)), instances.form());
    }

    /// A row of a data frame with the names of its columns.
    private static JsonNode named(JsonNode row, JsonNode columns) {
        if (row.size() != columns.size()) {
            throw new BadInputException(
                    "dataframe_split.data: found %s of %d, expected a list of %d, as there are columns"
                            .formatted(Excerpt.of(row), row.size(), columns.size()));
        }
        RequestMemory.charge(HeapSize.OBJECT + HeapSize.FIELD * columns.size());
        var object = JsonNodeFactory.instance.objectNode();
        for (int i = 0; i < columns.size(); i++) {
            object.set(columns.path(i).asText(), row.path(i));
        }
        return object;
    }

    /// The values of a row in the order that the columns have in the first one.
    private static JsonNode ordered(JsonNode row, JsonNode first, String name) {
        if (!row.isObject()) {
            throw Excerpt.bad(name, row, "an object with the values of the columns");
        }
        var columns = names(first);
        TableColumns.checkNames(names(row), columns, name);
        RequestMemory.charge(HeapSize.OBJECT + HeapSize.FIELD * columns.size());
        return JsonNodeFactory.instance
                .arrayNode()
                .addAll(columns.stream().map(row::get).toList());
    }

    private static List<String> names(JsonNode row) {
        return row.propertyStream().map(Map.Entry::getKey).toList();
    }

    @Override
    public InvocationResponse writeTensors(TensorPredictions predictions, MediaType accept) {
        predictions.chargeElements(HeapSize.VALUE);
        var value = predictions.form() == Instances.Form.COLUMNS
                ? Map.of("outputs", JsonTensors.outputs(predictions.stacked(accept), predictions))
                : predictions.isWhole()
                        ? Instances.around(
                                JsonTensors.outputs(predictions.predictions().getFirst(), predictions),
                                predictions.form())
                        : Instances.answer(JsonTensors.answers(predictions), predictions.form());
        return InvocationResponse.of(write(value), accept);
    }
}
