package dev.berth;

import static dev.berth.testing.CodeBlock.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.BerthImage;
import dev.berth.testing.CodeArtifact;
import dev.berth.testing.CodeBlock;
import dev.berth.testing.ServeProcess;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Does what the README and the first pages behind it say: the first command, then each request,
/// and compares the answers.
@Tag("packaged")
class ReadmeTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @Test
    void itsCommandsGiveTheAnswersThatItShows() throws Exception {
        var blocks = blocks();
        var commands = blocks.stream()
                .filter(block -> block.language().equals("sh"))
                .map(CodeBlock::text)
                .toList();
        assertThat(commands.getFirst()).isEqualTo("./serve\n");
        assertThat(commands).contains("./mvnw verify\n");

        int requests = 0;
        try (var server = ServeProcess.start(Map.of(), List.of("bash", "-c", "exec " + commands.getFirst()))
                .awaitReady()) {
            for (int i = 0; i + 1 < blocks.size(); i++) {
                if (blocks.get(i).text().startsWith("curl ")
                        && blocks.get(i + 1).language().equals("json")) {
                    var shown = JSON.readTree(blocks.get(i + 1).text());
                    var answer = JSON.readTree(
                            run(blocks.get(i).text().replace("localhost:8080", "127.0.0.1:" + server.port())));
                    // How far an int8 answer goes may differ from one kind of CPU to another; where it begins
                    // does not.
                    assertThat(answer.path("answer").asText()).hasSizeGreaterThan(5);
                    assertThat(shown.path("answer").asText())
                            .startsWith(answer.path("answer").asText().substring(0, 6));
                    assertThat(answer.path("start")).isEqualTo(shown.path("start"));
                    requests++;
                }
            }
        }
        assertThat(requests).isEqualTo(2);
    }

    @Test
    void itsLinesServeInAContainer() throws Exception {
        BerthImage.build();
        var lines = beginning("docker build -t berth .\n")
                .replaceAll("\\bberth\\b", BerthImage.NAME)
                .lines()
                .toList();
        assertThat(lines).hasSize(2);
        var request =
                beginning("curl -s localhost:8080/invocations -H 'Content-Type: application/json' -d '{\"question\": ");
        var port = ServeProcess.freePort();
        run("DOCKER_BUILDKIT=1 " + lines.get(0));
        // Detached, because this test does not have two terminals.
        var container = run(lines.get(1)
                        .replace("docker run", "docker run --detach")
                        .replace("8080:8080", port + ":8080"))
                .strip();
        try {
            await().atMost(BerthImage.LONGEST).until(() -> answers("curl -sf localhost:%d/ping".formatted(port)));
            assertThat(run(request.replace("localhost:8080", "localhost:" + port)))
                    .contains("\"answer\":\"Bob\"");
        } finally {
            run("docker stop " + container);
        }
    }

    private static boolean answers(String command) throws IOException, InterruptedException {
        return new ProcessBuilder("bash", "-c", command).start().waitFor() == 0;
    }

    @Test
    void itsHandlerIsServed(@TempDir Path artifact) throws Exception {
        new CodeArtifact(artifact)
                .file(
                        "code/Inference.java",
                        CodeBlock.texts("java", "README.md").getFirst());
        try (var server = TestServer.artifact(artifact).start()) {
            assertThat(server.invoke("one\ntwo", "Content-Type", "text/plain").body())
                    .isEqualTo("ONE\nTWO");
        }
    }

    @Test
    void itsCommandsForHooksWork(@TempDir Path directory) throws Exception {
        var commands = beginning("./serve init")
                .replace("my-hooks", directory.resolve("my-hooks").toString())
                .lines()
                .toList();
        run(commands.get(0));
        assertThat(run(commands.get(1))).contains("(checked against sample-response.json)");
        try (var server = ServeProcess.start(Map.of(), List.of("bash", "-c", "exec " + commands.get(2)))
                .awaitReady()) {
            assertThat(run(
                            "curl -s localhost:%d/invocations -H 'Content-Type: application/json' -d '{\"squareMetres\": 70, \"rooms\": 3}'"
                                    .formatted(server.port())))
                    .isEqualTo("{\"prices\":[520.0]}");
        }
    }

    @Test
    void itsTransformCommandWritesAnOutputForEachObject(@TempDir Path directory) throws Exception {
        var command = beginning("./transform ");
        var answers = directory.resolve("answers");
        // It succeeds, or `run` says what it printed.
        var printed = run("%s --report %s"
                .formatted(
                        command.replace("--output answers", "--output " + answers), directory.resolve("report.json")));
        assertThat(printed).contains("succeeded  40", "failed     0");
        try (var outputs = Files.list(answers)) {
            assertThat(outputs)
                    .hasSize(40)
                    .allSatisfy(
                            file -> assertThat(file.getFileName().toString()).endsWith(".png.out"));
        }
        assertThat(answers.resolve("7-00.png.out")).hasContent("{\"predictions\":7}");
        assertThat(JSON.readTree(directory.resolve("report.json").toFile())
                        .path("complete")
                        .asBoolean())
                .isTrue();
    }

    @Test
    void itsCommandForPicturesMakesThoseThatItShows(@TempDir Path directory) throws Exception {
        var command = beginning("./transform --model-dir examples/text-to-image");
        var pictures = directory.resolve("pictures");
        run("%s --report %s"
                .formatted(
                        command.replace("--output pictures", "--output " + pictures),
                        directory.resolve("report.json")));
        try (var files = Files.list(pictures.resolve("prompts.jsonl"))) {
            assertThat(files).hasSize(64);
        }
        var shown = ImageIO.read(Path.of("docs/pictures.png").toFile());
        for (int i = 0; i < 64; i++) {
            var name = i % 8 == 0 ? "A%d.png".formatted(i / 8 + 1) : "A%d-%d.png".formatted(i / 8 + 1, i % 8 + 1);
            var made =
                    ImageIO.read(pictures.resolve("prompts.jsonl").resolve(name).toFile());
            int cell = made.getWidth() + 4;
            int same = 0;
            for (int y = 0; y < made.getHeight(); y++) {
                for (int x = 0; x < made.getWidth(); x++) {
                    same += shown.getRGB(4 + i % 8 * cell + x, 4 + i / 8 * cell + y) == made.getRGB(x, y) ? 1 : 0;
                }
            }
            // Another kind of processor may draw an edge a little differently.
            assertThat(same).as(name).isGreaterThan(made.getHeight() * made.getWidth() * 9 / 10);
        }
    }

    private static List<CodeBlock> blocks() throws IOException {
        return CodeBlock.of("README.md", "docs/getting-started.md");
    }

    private static String beginning(String with) throws IOException {
        return CodeBlock.beginning(with, blocks()).strip();
    }
}
