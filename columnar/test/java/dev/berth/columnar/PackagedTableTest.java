package dev.berth.columnar;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.parquet.schema.MessageTypeParser;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `./transform` as a user runs it, which finds the jar of tables beside the server's.
@Tag("packaged")
class PackagedTableTest {

    @TempDir
    private Path directory;

    @Test
    void theSampleModelAnswersATableOfQuestions() throws Exception {
        var type = MessageTypeParser.parseMessageType("""
        message questions { required int64 id; optional binary question (STRING); optional binary context (STRING); }""");
        var input = Tables.write(
                directory.resolve("q.parquet"),
                type,
                1,
                2,
                (row, i) -> row.append("id", 7L + i)
                        .append("question", i == 0 ? "Who came?" : "Where is Ann?")
                        .append("context", i == 0 ? "Bob came." : "Ann is in Warsaw."));
        var out = directory.resolve("out");
        transform(
                "--input",
                input.toString(),
                "--output",
                out.toString(),
                "--report",
                directory.resolve("report.json").toString(),
                "--content-type",
                "application/vnd.apache.parquet",
                "--join-source",
                "Input");
        try (var table = new ParquetFormat().open(out.resolve("q.parquet.out"))) {
            var rows = Tables.rows(table);
            assertThat(rows).hasSize(2);
            assertThat(rows.getFirst())
                    .startsWith(
                            "{\"id\":7,\"question\":\"Who came?\",\"context\":\"Bob came.\",\"answer\":\"Bob\",\"score\":0.")
                    .endsWith(",\"start\":0,\"end\":3}");
            assertThat(rows.getLast()).contains("\"id\":8", "\"answer\":\"Warsaw\"");
        }
    }

    private void transform(String... arguments) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of("./transform"));
        command.addAll(List.of(arguments));
        var output = directory.resolve("output");
        var errors = directory.resolve("errors");
        var builder =
                new ProcessBuilder(command).redirectOutput(output.toFile()).redirectError(errors.toFile());
        builder.environment().put("INSTANCE_TYPE", "cpu");
        var process = builder.start();
        try {
            assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
            assertThat(process.exitValue()).as(Files.readString(errors)).isZero();
            assertThat(output).content().containsPattern("records +2\n");
            assertThat(errors).content().as("the JVM warns of nothing").doesNotContain("WARNING");
        } finally {
            process.destroyForcibly();
        }
    }
}
