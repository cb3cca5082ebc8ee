package dev.berth.content;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.json.JsonText;
import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// CSV as documents and as tensors.
public final class CsvType extends ContentType
        implements ContentType.OfDocuments, ContentType.OfTensors, ContentType.OfLines {

    /// The header that AWS's container for Hugging Face wants over the only column.
    private static final List<String> HUGGING_FACE = List.of("inputs");

    /// A row with its cells by the names of the fields.
    private record Row(String name, String[] cells, Header header, List<String> fields) implements Documents.Document {

        @Override
        public JsonNode json() {
            if (cells.length != header.columns) {
                throw new BadInputException("%s: found %d column%s separated by commas, expected %d%s"
                        .formatted(
                                name,
                                cells.length,
                                cells.length == 1 ? "" : "s",
                                header.columns,
                                header.isPresent
                                        ? " as in the header"
                                        : ": %s, or a header that names them".formatted(String.join(",", fields))));
            }
            var object = JsonNodeFactory.instance.objectNode();
            for (int i = 0; i < fields.size(); i++) {
                object.put(fields.get(i), cells[header.places.get(i)]);
            }
            return object;
        }
    }

    /// @param places in which column each field stands
    private record Header(boolean isPresent, List<Integer> places, int columns) {}

    CsvType() {
        super(List.of(MediaType.CSV), List.of("csv"));
    }

    /// The rows of a body, whose columns are the fields, or whose header says where those are. The
    /// parameter `header` of the content type (`present` or `absent`) settles whether the first row
    /// is a header. Else it is one when it names all fields.
    ///
    /// @throws BadInputException when there are no rows, the body is not CSV, or its header lacks a
    ///   field
    @Override
    public Documents readDocuments(InvocationRequest request, List<String> fields) throws IOException {
        var rows = Csv.rows(request.text());
        if (rows.isEmpty()) {
            throw new BadInputException("body: found nothing, expected rows of " + String.join(",", fields));
        }
        RequestMemory.charge(2 * HeapSize.RECORD * rows.size());
        var header = header(rows.getFirst(), request.contentType().parameters().get("header"), fields);
        return new Documents.Records(IntStream.range(header.isPresent ? 1 : 0, rows.size())
                .mapToObj(i -> new Row("row " + (i + 1), rows.get(i), header, fields))
                .toList());
    }

    private static Header header(String[] row, String declared, List<String> fields) {
        var names = Arrays.stream(row)
                .map(name -> name.strip().toLowerCase(Locale.ROOT))
                .toList();
        if (fields.size() == 1 && names.equals(HUGGING_FACE)) {
            names = fields;
        }
        boolean namesAll = names.containsAll(fields);
        if (!namesAll
                && ("present".equals(declared)
                        || (fields.stream().anyMatch(names::contains) && !"absent".equals(declared)))) {
            throw new BadInputException(
                    "row 1: found the header %s, expected the columns %s; header=absent says that it is a record"
                            .formatted(Excerpt.quoted(String.join(",", row)), String.join(" and ", fields)));
        }
        return namesAll && !"absent".equals(declared)
                ? new Header(true, fields.stream().map(names::indexOf).toList(), row.length)
                : new Header(false, IntStream.range(0, fields.size()).boxed().toList(), fields.size());
    }

    /// A record's answer as the cells of a row: the fields of each object, one object behind the
    /// other.
    private static Object[] cells(Object document, List<String> fields) {
        if (document instanceof RecordError(var message)) {
            var cells = new Object[fields.size()];
            Arrays.fill(cells, "");
            cells[0] = Csv.error(message);
            return cells;
        }
        var json = JsonText.tree(document);
        return (json.isArray() ? json.valueStream() : Stream.of(json))
                // A missing value would be no cell at all.
                .flatMap(object -> fields.stream().map(field -> object.has(field) ? object.path(field) : ""))
                .toArray();
    }

    @Override
    public InvocationResponse writeDocuments(
            List<?> documents, List<String> fields, Instances.Form form, MediaType accept) throws IOException {
        var rows = documents.stream().map(document -> cells(document, fields)).toList();
        return InvocationResponse.of(Csv.write(rows), accept);
    }

    @Override
    public TensorRecords readTensors(InvocationRequest request, TensorInputs inputs) throws IOException {
        if (!inputs.table().isKnown()) {
            inputs.checkOne(request);
        }
        var block = NumberBlock.read(request, inputs, NumberBlock.Text.CSV);
        if (block.isPresent()) {
            return block.get();
        }
        var rows = CsvTensors.read(request, inputs);
        return new TensorRecords(rows.size(), i -> rows.get(i).record(inputs), Instances.Form.LIST);
    }

    @Override
    public InvocationResponse writeTensors(TensorPredictions predictions, MediaType accept) throws IOException {
        predictions.chargeElements(HeapSize.VALUE);
        var lines = predictions.inPlace(
                outputs -> Csv.line(outputs.stream()
                        .flatMap(output -> Arrays.stream(CsvTensors.cells(output)))
                        .toArray()),
                message -> Csv.line(new Object[] {Csv.error(message)}));
        return InvocationResponse.of(String.join("", lines), accept);
    }
}
