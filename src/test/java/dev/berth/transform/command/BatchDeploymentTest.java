package dev.berth.transform.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.ServeProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What `deploy/batch` has for clusters.
class BatchDeploymentTest {

    private static final Path DEPLOY = Path.of("deploy/batch");
    private static final Pattern FLAG = Pattern.compile("--[a-z][a-z-]+");

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"kubernetes-job.yaml", "aws-batch.json"})
    void theFlagsAreThoseOfTransform(String file) throws Exception {
        var known = new TransformCommand().spec().optionsMap().keySet();
        var flags = FLAG.matcher(Files.readString(DEPLOY.resolve(file)))
                .results()
                .map(match -> match.group())
                .toList();
        assertThat(flags).isNotEmpty().isSubsetOf(known);
    }

    @Test
    void awsBatchsDefinitionIsJson() throws Exception {
        var definition =
                new ObjectMapper().readTree(DEPLOY.resolve("aws-batch.json").toFile());
        assertThat(definition
                        .path("containerProperties")
                        .path("command")
                        .path(0)
                        .asText())
                .isEqualTo("transform");
    }

    @Test
    @Tag("packaged")
    void theTasksOfASlurmArrayShareTheObjects() throws Exception {
        var in = Files.createDirectory(directory.resolve("in"));
        for (int i = 0; i < 4; i++) {
            Files.writeString(in.resolve("%d.jsonl".formatted(i)), "{\"user_id\": \"114521\", \"k\": 3}\n");
        }
        var outputs = new HashSet<Path>();
        for (int task = 1; task <= 2; task++) {
            var variables = Map.of(
                    "INSTANCE_TYPE",
                    "cpu",
                    "CHECKOUT",
                    Path.of("").toAbsolutePath().toString(),
                    "SLURM_ARRAY_TASK_ID",
                    String.valueOf(task),
                    "SLURM_ARRAY_TASK_MIN",
                    "1",
                    "SLURM_ARRAY_TASK_COUNT",
                    "2");
            var command = "%s %s %s --model-dir %s --report %s --split-type Line --assemble-with Line"
                            .formatted(
                                    DEPLOY.resolve("slurm.sh").toAbsolutePath(),
                                    in,
                                    directory.resolve("out"),
                                    Path.of("examples/recommender").toAbsolutePath(),
                                    directory.resolve("report.json"))
                    + " --content-type application/jsonlines --accept application/jsonlines";
            try (var job = ServeProcess.start(variables, List.of(command.split(" ")))) {
                assertThat(job.exitCode()).as(job.err()).isZero();
                assertThat(job.out()).containsPattern("objects +2\n");
            }
            try (var files = Files.newDirectoryStream(directory.resolve("out"), "*.out")) {
                files.forEach(outputs::add);
            }
            assertThat(outputs).hasSize(2 * task);
        }
    }
}
