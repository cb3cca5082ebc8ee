package dev.berth.spark;

import static org.apache.spark.sql.functions.from_csv;
import static org.apache.spark.sql.functions.from_json;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.to_csv;
import static org.apache.spark.sql.functions.to_json;

import dev.berth.content.Csv;
import dev.berth.content.JsonLines;
import dev.berth.hooks.MediaType;
import java.io.IOException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.types.StructType;

/// How rows are written as records of a content type, and answers read as such.
enum RecordForm {
    /// One JSON text, so one row, in a request.
    JSON {
        @Override
        List<String> split(String body) {
            return List.of(body);
        }
    },
    /// A line for each row.
    JSON_LINES {
        @Override
        List<String> split(String body) {
            return body.lines().filter(line -> !line.isBlank()).toList();
        }

        @Override
        Optional<String> problem(String record) {
            return record.strip().indexOf('\n') >= 0
                    ? Optional.of("found several lines, expected a record on one line")
                    : Optional.empty();
        }
    },
    /// A row of cells for each row, without a header.
    CSV {
        @Override
        Column write(Column struct) {
            return to_csv(struct, QUOTES);
        }

        @Override
        Column read(Column answer, StructType schema, Map<String, String> options) {
            var all = new HashMap<>(options);
            all.putAll(QUOTES);
            return from_csv(answer, lit(schema.toDDL()), all);
        }

        @Override
        List<String> split(String body) throws IOException {
            return Csv.rows(body).stream().map(RecordForm::line).toList();
        }
    };

    /// Within quotes a quote is doubled, as in RFC 4180. Spark would put a backslash before it.
    private static final Map<String, String> QUOTES = Map.of("escape", "\"");

    /// The form of a content type.
    ///
    /// @param what names the option in the message
    static RecordForm of(String contentType, String what) {
        var type = MediaType.parse(contentType).map(MediaType::withoutParameters);
        if (type.filter(MediaType.JSON::equals).isPresent()) {
            return JSON;
        }
        if (type.filter(JsonLines.TYPES::contains).isPresent()) {
            return JSON_LINES;
        }
        if (type.filter(MediaType.CSV::equals).isPresent()) {
            return CSV;
        }
        throw new IllegalArgumentException("%s: found \"%s\", expected %s, %s or %s"
                .formatted(what, contentType, MediaType.JSON_LINES, MediaType.JSON, MediaType.CSV));
    }

    /// A row's record, of a struct of its columns.
    Column write(Column struct) {
        return to_json(struct);
    }

    /// An answer's struct.
    Column read(Column answer, StructType schema, Map<String, String> options) {
        return from_json(answer, schema, options);
    }

    /// The answers of the records of a request.
    abstract List<String> split(String body) throws IOException;

    /// Why a record can't be sent.
    Optional<String> problem(String record) {
        return Optional.empty();
    }

    private static String line(String[] cells) {
        return Csv.write(List.<Object[]>of(Arrays.copyOf(cells, cells.length, Object[].class)))
                .strip();
    }
}
