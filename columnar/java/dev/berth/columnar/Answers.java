package dev.berth.columnar;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.columnar.AnswerColumn.Kind;
import dev.berth.table.TableAnswers;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The answers to a table's rows, one after the other, as the columns that they make. All answers
/// are read once before, so that the columns do not depend on which of them comes first. For one
/// thread.
final class Answers implements Closeable {

    /// The column of answers that are no objects.
    private static final String PREDICTION = "prediction";

    private static final String ERROR = "error";

    /// What stands in front of an answer's name where the table has a column of that name already.
    private static final String OUTPUT = "SageMakerOutput_";

    /// A payload's size is limited already.
    private static final JsonMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxStringLength(Integer.MAX_VALUE)
                            .build())
                    .build())
            .build();

    private final MappingIterator<JsonNode> values;
    private final List<AnswerColumn> columns;
    private long row;

    private Answers(MappingIterator<JsonNode> values, List<AnswerColumn> columns) {
        this.values = values;
        this.columns = columns;
    }

    /// @param rows how many answers there have to be
    /// @param names of the table's own columns
    /// @throws IOException when there are more or fewer, or one is no JSON
    static Answers open(TableAnswers answers, long rows, Set<String> names) throws IOException {
        var kinds = new LinkedHashMap<String, Kind>();
        long count = 0;
        try (var first = new Answers(values(answers.lines()), List.of())) {
            while (first.values.hasNextValue()) {
                for (var member : first.next().properties()) {
                    if (member.getValue().isNull()) {
                        kinds.putIfAbsent(member.getKey(), null);
                    } else {
                        kinds.merge(member.getKey(), Kind.of(member.getValue()), Kind::or);
                    }
                }
                count++;
            }
        } catch (JsonProcessingException e) {
            throw new IOException(
                    "answer to row %d: found what is not JSON: %s".formatted(count + 1, e.getOriginalMessage()), e);
        }
        if (count != rows) {
            throw new IOException("found %d answers, expected %d, one for each row".formatted(count, rows));
        }
        if (answers.haveErrors()) {
            kinds.putIfAbsent(ERROR, Kind.TEXT);
        }
        if (kinds.isEmpty()) {
            kinds.put(PREDICTION, Kind.TEXT);
        }
        return new Answers(values(answers.lines()), columns(kinds, answers.areJoined() ? names : Set.of()));
    }

    private static MappingIterator<JsonNode> values(Path lines) throws IOException {
        return JSON.readerFor(JsonNode.class).readValues(lines.toFile());
    }

    private static List<AnswerColumn> columns(Map<String, Kind> kinds, Set<String> names) {
        var taken = new HashSet<>(names);
        var columns = new ArrayList<AnswerColumn>();
        kinds.forEach((member, kind) -> {
            var name = member;
            while (!taken.add(name)) {
                name = OUTPUT + name;
            }
            columns.add(new AnswerColumn(name, member, kind == null ? Kind.TEXT : kind));
        });
        return columns;
    }

    List<AnswerColumn> columns() {
        return columns;
    }

    /// The answer to the next row, as an object.
    JsonNode next() throws IOException {
        row++;
        if (!values.hasNextValue()) {
            throw new IOException("found no answer to row %d".formatted(row));
        }
        var value = values.nextValue();
        return value.isObject() ? value : JsonNodeFactory.instance.objectNode().set(PREDICTION, value);
    }

    @Override
    public void close() throws IOException {
        values.close();
    }
}
