package dev.berth.content;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.io.IOException;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// JSON Lines in and out: a JSON value on each line, each of them a record.
public final class JsonLines extends ContentType
        implements ContentType.OfDocuments, ContentType.OfTensors, ContentType.OfLines {

    /// SageMaker's name for it, and others that people use.
    public static final List<MediaType> TYPES = List.of(
            MediaType.JSON_LINES, MediaType.of("application", "jsonl"), MediaType.of("application", "x-ndjson"));

    /// A line that has not been looked at, so that a bad one can fail alone.
    ///
    /// @param name what messages call it: `line 1`, `line 2`, …
    public record Line(String name, String text) implements Documents.Document {

        /// The line's value.
        ///
        /// @throws BadInputException when it is blank or not JSON
        @Override
        public JsonNode json() {
            if (text.isBlank()) {
                throw new BadInputException(name + ": found a blank line, expected a JSON value");
            }
            return Json.parse(text, name);
        }
    }

    JsonLines() {
        super(TYPES, List.of("jsonl"));
    }

    /// The lines of a body. Blank ones at its end do not count. One before that is a bad record and
    /// not skipped, because a batch-transform job joins its input and output line by line.
    ///
    /// @throws BadInputException when the body is empty
    public static List<Line> read(InvocationRequest request) throws IOException {
        var text = request.text();
        if (text.isEmpty()) {
            throw new BadInputException("body: found nothing, expected lines of JSON");
        }
        return lines(text);
    }

    /// The lines of a text, as [#read] gives those of a body.
    public static List<Line> lines(String text) {
        RequestMemory.charge(
                HeapSize.RECORD * (1 + text.chars().filter(c -> c == '\n').count())
                        + HeapSize.CHARACTER * text.length());
        var lines = text.stripTrailing().split("\n", -1);
        return IntStream.range(0, lines.length)
                .mapToObj(i -> new Line("line " + (i + 1), lines[i]))
                .toList();
    }

    /// A line for each value, as [Json#write] writes it. The last one has no line break: the server
    /// adds one where a job wants it.
    public static String write(List<?> values) {
        return values.stream().map(Json::write).collect(Collectors.joining("\n"));
    }

    @Override
    public Documents readDocuments(InvocationRequest request, List<String> fields) throws IOException {
        return new Documents.Records(read(request));
    }

    @Override
    public InvocationResponse writeDocuments(
            List<?> documents, List<String> fields, Instances.Form form, MediaType accept) {
        return InvocationResponse.of(write(documents), accept);
    }

    @Override
    public TensorRecords readTensors(InvocationRequest request, TensorInputs inputs) throws IOException {
        var block = NumberBlock.read(request, inputs, NumberBlock.Text.JSON_LINES);
        if (block.isPresent()) {
            return block.get();
        }
        var lines = read(request);
        return new TensorRecords(
                lines.size(),
                i -> JsonTensors.record(
                        lines.get(i).json(), inputs, lines.get(i).name()),
                Instances.Form.LIST);
    }

    @Override
    public InvocationResponse writeTensors(TensorPredictions predictions, MediaType accept) {
        predictions.chargeElements(HeapSize.VALUE);
        return InvocationResponse.of(write(JsonTensors.answers(predictions)), accept);
    }
}
