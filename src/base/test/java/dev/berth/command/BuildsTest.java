package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.artifact.ArtifactBuilds;
import dev.berth.artifact.Target;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// An artifact with builds for several devices.
class BuildsTest {

    private static final String QUESTION = "{\"question\": \"Who came?\", \"context\": \"Bob came.\"}";

    @TempDir
    private Path directory;

    @BeforeEach
    void build() throws IOException {
        Files.createSymbolicLink(directory.resolve("cpu"), TestServer.SAMPLE_ARTIFACT);
        for (var device : List.of("gpu", "inf2")) {
            Files.createDirectory(directory.resolve(device));
            TestArtifact.compiled(directory.resolve(device), device, "waves-1x128.pt");
        }
    }

    @Test
    void theBuildOfTheDeviceIsServed() throws Exception {
        describe("{\"cpu\": \"cpu\", \"gpu\": \"gpu\", \"inf2\": \"inf2\"}");
        try (var server = TestServer.artifact(directory).start()) {
            assertThat(server.invoke(QUESTION, "Content-Type", "application/json")
                            .body())
                    .contains("\"answer\":\"Bob\"");
        }
    }

    @Test
    void oneOfManyModelsMayHaveBuilds() throws Exception {
        describe("{\"cpu\": \"cpu\", \"gpu\": \"gpu\"}");
        try (var server = TestServer.ofModels().start()) {
            assertThat(server.load("qa", directory).statusCode()).isEqualTo(200);
            assertThat(server.ask("qa", QUESTION, "Content-Type", "application/json")
                            .body())
                    .contains("\"answer\":\"Bob\"");
        }
    }

    @Test
    void trainiumRunsWhatIsBuiltForInferentia2() throws Exception {
        describe("{\"cpu\": \"cpu\", \"inf2\": \"inf2\"}");
        var builds = ArtifactBuilds.read(directory).orElseThrow();
        assertThat(builds.of(Target.TRN1)).hasValue(directory.resolve("inf2"));
        assertThat(builds.of(Target.CPU)).hasValue(directory.resolve("cpu"));
        assertThat(builds.of(Target.INF1)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      {"gpu": "gpu", "inf2": "inf2"} | has builds for gpu, inf2, and this server uses cpu (INSTANCE_TYPE=cpu); add one for cpu to files in its model.json, or set INSTANCE_TYPE
      {} | files: found an object, expected a list of
      {"tpu": "cpu"} | found "tpu", expected devices: cpu, gpu, inf1, inf2, trn1
      {"cpu": "none"} | files.cpu: found "none", expected the name of a directory
      {"cpu": ".."} | files.cpu: found "..", expected the name of a directory
      {"cpu": "."} | files.cpu: found ".", expected the name of a directory
      {"cpu": 1} | files.cpu: found 1, expected the name of a directory
      {"gpu": "cpu"} | files.gpu: found a build that is traced for cpu, expected one for gpu
      """)
    void whatIsWrongIsNamed(String files, String problem) throws Exception {
        describe(files);
        TestServer.artifact(directory).assertDoesNotStart("model artifact " + directory, problem);
    }

    private void describe(String files) throws IOException {
        Files.writeString(directory.resolve("model.json"), "{\"format\": 1, \"files\": %s}".formatted(files));
    }
}
