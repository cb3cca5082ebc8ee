package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.BerthImage;
import dev.berth.testing.Compose;
import dev.berth.testing.ServeProcess;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Does with the image what the local mode of AWS's Python SDK does for a transform job: the same
/// compose file and command, the same requests, the same way to put the output together.
@Tag("packaged")
class LocalModeTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    private static List<String> compose;

    @BeforeAll
    static void needsTheImageAndCompose() throws Exception {
        BerthImage.build();
        compose = Compose.command();
    }

    @Test
    @Tag("RUN-15")
    @Tag("BAT-03")
    void aTransformJobOfTheSdkRunsOnTheLocalImage(@TempDir Path directory) throws Exception {
        int port = ServeProcess.freePort();
        var model = Files.createDirectories(directory.resolve("algo-1-berth/model"));
        try (var files = Files.list(TestServer.SAMPLE_ARTIFACT)) {
            for (var file : files.toList()) {
                Files.copy(file, model.resolve(file.getFileName()));
            }
        }
        BerthImage.run(
                List.of(
                        "tar",
                        "-czf",
                        model.resolve("model.tar.gz").toString(),
                        "-C",
                        TestServer.SAMPLE_ARTIFACT.toString(),
                        "model.json"),
                directory.resolve("tar.log"));
        var file = Files.writeString(directory.resolve("docker-compose.yaml"), composeFile(model, port));
        var log = directory.resolve("compose.log");

        try (var client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            var container = new ProcessBuilder(
                            with("-f", file.toString(), "up", "--build", "--abort-on-container-exit"))
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            try {
                var server = "http://localhost:" + port;
                await().atMost(BerthImage.LONGEST).until(() -> {
                    assertThat(container.isAlive()).as(Files.readString(log)).isTrue();
                    return answersPing(client, server);
                });

                // The SDK takes the strategy as it stands, and knows no other spelling of it.
                var parameters = get(client, server + "/execution-parameters");
                assertThat(parameters.statusCode()).isEqualTo(200);
                assertThat(JSON.readTree(parameters.body())
                                .path("BatchStrategy")
                                .asText())
                        .isEqualTo("MultiRecord");
                assertThat(JSON.readTree(parameters.body())
                                .path("MaxPayloadInMB")
                                .isInt())
                        .isTrue();

                // SplitType=Line: mini-batches of whole lines. AssembleWith=Line: a newline after each
                // response.
                var output = new StringBuilder();
                for (var miniBatch : List.of(line("Bob") + line("Ada"), line("Zoë"))) {
                    var response = client.send(
                            HttpRequest.newBuilder(URI.create(server + "/invocations"))
                                    .header("Content-type", "application/jsonlines")
                                    .header("Accept", "application/jsonlines")
                                    .POST(BodyPublishers.ofString(miniBatch))
                                    .build(),
                            BodyHandlers.ofString());
                    assertThat(response.statusCode()).isEqualTo(200);
                    output.append(response.body()).append('\n');
                }
                assertThat(output.toString().lines())
                        .extracting(
                                answer -> JSON.readTree(answer).path("answer").asText())
                        .containsExactly("Bob", "Ada", "Zoë");
            } finally {
                container.destroy();
                if (!container.waitFor(1, TimeUnit.MINUTES)) {
                    container.destroyForcibly();
                }
                BerthImage.run(with("-f", file.toString(), "down"), directory.resolve("down.log"));
            }
        }
        // The container ran as root here and could have written beside the model.
        try (var files = Files.list(model);
                var sample = Files.list(TestServer.SAMPLE_ARTIFACT)) {
            assertThat(files.count()).isEqualTo(sample.count() + 1);
        }
    }

    private static String line(String name) {
        return "{\"question\": \"Who came?\", \"context\": \"%s came.\"}\n".formatted(name);
    }

    private static String composeFile(Path model, int port) {
        return """
        networks:
          sagemaker-local:
            name: berth-sagemaker-local
        services:
          algo-1-berth:
            command: serve
            environment:
            - AWS_ACCESS_KEY_ID=none
            - AWS_SECRET_ACCESS_KEY=none
            - SAGEMAKER_BATCH=True
            - SAGEMAKER_MAX_CONCURRENT_TRANSFORMS=1
            image: %s
            networks:
              sagemaker-local:
                aliases:
                - algo-1-berth
            ports:
            - %d:8080
            stdin_open: true
            tty: true
            volumes:
            - %s:/opt/ml/model
        version: '2.3'
        """.formatted(BerthImage.NAME, port, model);
    }

    private static List<String> with(String... arguments) {
        var command = new ArrayList<>(compose);
        command.addAll(List.of(arguments));
        return command;
    }

    private static boolean answersPing(HttpClient client, String server) throws InterruptedException {
        try {
            return get(client, server + "/ping").statusCode() == 200;
        } catch (IOException e) {
            return false;
        }
    }

    private static HttpResponse<String> get(HttpClient client, String uri) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(URI.create(uri)).build(), BodyHandlers.ofString());
    }
}
