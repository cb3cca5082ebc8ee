package dev.berth.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Asks with OpenAI's own client, which npm installs: the program of `examples/text-generation`,
/// and one for embeddings. Skips itself without npm.
@Tag("packaged")
class OpenAiClientTest {

    private static final String CLIENT = "openai@7.57.0";

    @TempDir
    private Path directory;

    @Test
    @Tag("OAI-01")
    void itsRequestsAreAnsweredAndItsErrorsSayWhatIsWrong() throws Exception {
        installTheClient();
        // A module finds packages beside itself.
        var program = Files.copy(Path.of("examples/text-generation/client.mjs"), directory.resolve("client.mjs"));
        String printed;
        try (var server =
                TestServer.artifact(Path.of("examples/text-generation")).start()) {
            printed = run("node", program.toString(), server.uri("/v1").toString());
        }
        var lines = printed.lines().toList();
        assertThat(lines).hasSize(4);
        assertThat(lines.subList(0, 2)).containsOnly("The capital of France is Paris.");
        assertThat(lines.get(2)).startsWith("In the beginning ");
        assertThat(lines.get(3)).isEqualTo("400 temperature: found 9, expected a number from 0 to 2");
    }

    /// The client asks for base64 by itself.
    @Test
    @Tag("OAI-01")
    void embeddingsOfTheTaskAreThoseOfInvocations() throws Exception {
        installTheClient();
        var program = Files.writeString(directory.resolve("embeddings.mjs"), """
        import OpenAI from "openai";
        const client = new OpenAI({baseURL: process.argv[2], apiKey: "none", maxRetries: 0});
        const answer = await client.embeddings.create({model: "mine", input: ["The lamp.", "It works."]});
        console.log(JSON.stringify(answer.data.map(one => one.embedding)));
        try {
          await client.embeddings.create({model: "mine", input: [[5, 7]]});
        } catch (error) {
          console.log(error.message);
        }
        """);
        try (var server = TestServer.artifact(Path.of("src/test/resources/tasks/sentence-embeddings-bert"))
                .start()) {
            var lines = run("node", program.toString(), server.uri("/v1").toString())
                    .lines()
                    .toList();
            var own = server.invoke("[\"The lamp.\", \"It works.\"]", "Content-Type", "application/json")
                    .body();
            assertThat(floats(lines.getFirst())).isDeepEqualTo(floats(own));
            assertThat(lines.getLast())
                    .isEqualTo("400 input[0]: found token ids, expected a text; they are those of another tokenizer");
        }
    }

    private static float[][] floats(String json) throws IOException {
        return new ObjectMapper().readValue(json, float[][].class);
    }

    private void installTheClient() throws Exception {
        needsNpm();
        run("npm", "install", "--no-audit", "--no-fund", "--prefix", directory.toString(), CLIENT);
    }

    private void needsNpm() throws Exception {
        boolean found;
        try {
            run("npm", "--version");
            found = true;
        } catch (IOException _) {
            found = false;
        }
        assumeThat(found).as("npm").isTrue();
    }

    private String run(String... command) throws IOException, InterruptedException {
        var log = directory.resolve("command.log");
        var process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        int code = process.waitFor();
        var printed = Files.readString(log);
        assertThat(code).as("%s%n%s", List.of(command), printed).isZero();
        return printed;
    }
}
