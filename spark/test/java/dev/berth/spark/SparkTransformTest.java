package dev.berth.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.spark.launcher.JavaModuleOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The program as spark-submit runs it.
class SparkTransformTest {

    @TempDir
    Path directory;

    @Test
    void aJobWritesItsRowsAndCountsErrors() throws Exception {
        Files.writeString(directory.resolve("in.jsonl"), """
        {"id": 1, "question": "Where was Marie Curie born?", "context": "Marie Curie was born in Warsaw."}
        {"id": 2, "question": "Where?"}
        """);

        var output = submit(
                "--model-dir",
                "model-artifact",
                "--input",
                directory.resolve("in.jsonl").toString(),
                "--output",
                directory.resolve("out").toString(),
                "--columns",
                "question,context",
                "--schema",
                "answer STRING");

        assertThat(output)
                .contains("2 rows written to " + directory.resolve("out") + ", 1 of them with an error in berth_error");
        assertThat(written())
                .satisfiesExactlyInAnyOrder(
                        row -> assertThat(row).contains("\"id\":1").endsWith("\"prediction\":{\"answer\":\"Warsaw\"}}"),
                        row -> assertThat(row)
                                .contains("\"id\":2")
                                .contains("\"berth_error\":\"")
                                .doesNotContain("prediction"));
    }

    @Test
    void aWrongOptionEndsWithTwo() {
        assertThat(SparkTransform.run("--no-such-option")).isEqualTo(2);
        for (var wrong : List.of("--content-type=image/png", "--batch-size=0")) {
            assertThat(SparkTransform.run("--model-dir", "m", "--input", "in", "--output", "out", wrong))
                    .isEqualTo(2);
        }
    }

    private List<String> written() throws IOException {
        var rows = new ArrayList<String>();
        try (var parts = Files.newDirectoryStream(directory.resolve("out"), "part-*")) {
            for (var part : parts) {
                rows.addAll(Files.readAllLines(part));
            }
        }
        return rows;
    }

    private String submit(String... arguments) throws Exception {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(JavaModuleOptions.defaultModuleOptionArray()));
        command.addAll(List.of(
                "-cp",
                System.getenv("SPARK_HOME") + "/jars/*",
                "org.apache.spark.deploy.SparkSubmit",
                "--master",
                "local[2]",
                "--class",
                "dev.berth.spark.SparkTransform",
                "target/spark/berth-spark.jar"));
        Stream.of(arguments).forEach(command::add);
        var log = directory.resolve("log").toFile();
        var process = new ProcessBuilder(command)
                .redirectError(log)
                .redirectOutput(Redirect.PIPE)
                .start();
        var output = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor()).as(Files.readString(log.toPath())).isZero();
        return output;
    }
}
