package dev.berth.columnar;

import dev.berth.table.Table;
import dev.berth.table.TableAnswers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;

/// Tables in files, and what is in them.
final class Tables {

    static final MessageType TEXTS =
            MessageTypeParser.parseMessageType("message texts { required int64 id; optional binary text (STRING); }");

    private Tables() {}

    /// Where Maven's resources are; files are read at places of their own.
    static Path resource(String name) {
        return Path.of("columnar/test/resources").resolve(name);
    }

    /// A table of [#TEXTS], written by Parquet itself.
    static Path texts(Path file, int rowsInGroup, List<String> texts) throws IOException {
        return write(file, TEXTS, rowsInGroup, texts.size(), (row, i) -> {
            row.add("id", (long) i);
            if (texts.get(i) != null) {
                row.add("text", texts.get(i));
            }
        });
    }

    static Path write(Path file, MessageType type, int rowsInGroup, int rows, BiConsumer<Group, Integer> filling)
            throws IOException {
        var builder = ExampleParquetWriter.builder(new LocalOutputFile(file))
                .withType(type)
                .withConf(new PlainParquetConfiguration())
                .withCodecFactory(new PureCodecs())
                .withCompressionCodec(CompressionCodecName.SNAPPY)
                .withRowGroupRowCountLimit(rowsInGroup);
        try (var writer = builder.build()) {
            for (int i = 0; i < rows; i++) {
                var row = new SimpleGroup(type);
                filling.accept(row, i);
                writer.write(row);
            }
        }
        return file;
    }

    static List<String> rows(Table table) throws IOException {
        var rows = new ArrayList<String>();
        for (var row = table.next(); row.isPresent(); row = table.next()) {
            rows.add(new String(row.get(), StandardCharsets.UTF_8).stripTrailing());
        }
        return rows;
    }

    /// How many rows each group has.
    static List<Integer> groups(Table table) throws IOException {
        var groups = new ArrayList<Integer>();
        int rows = 0;
        while (table.next().isPresent()) {
            rows++;
            if (table.endsGroup()) {
                groups.add(rows);
                rows = 0;
            }
        }
        return groups;
    }

    /// Rows with more members behind theirs.
    static List<String> joined(List<String> rows, String... members) {
        return IntStream.range(0, rows.size())
                .mapToObj(i -> rows.get(i).replaceFirst("}$", "," + members[i] + "}"))
                .toList();
    }

    /// Writes a table with these answers, `out` in a directory.
    static Path answer(Table table, boolean areJoined, boolean haveErrors, Path directory, String... answers)
            throws IOException {
        var lines = Files.writeString(directory.resolve("lines"), String.join("\n", answers) + "\n");
        var output = directory.resolve("out");
        try (var out = Files.newOutputStream(output)) {
            table.write(new TableAnswers(lines, areJoined, haveErrors), out);
        }
        return output;
    }
}
