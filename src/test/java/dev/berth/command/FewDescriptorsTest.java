package dev.berth.command;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.CodeArtifact;
import dev.berth.testing.RawConnection;
import dev.berth.testing.ServeProcess;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A server in a process of 330 file descriptors, and more clients than that. Its jars take some
/// 130 of them, twice while hooks are compiled.
@Tag("packaged")
@Timeout(600)
class FewDescriptorsTest {

    /// Less than the 10 s after which the server closes connections whose head is not whole.
    private static final Duration LIMIT = Duration.ofSeconds(8);

    private static final String QUESTION = "{\"question\": \"Who came?\", \"context\": \"Bob came.\"}";

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "POST /invocations HTTP/1.1\r\nHost: x\r\n",
                "POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\na"
            })
    void fourHundredClientsThatSendHalfARequestKeepNobodyOut(String half) throws Exception {
        try (var server = serve(TestServer.SAMPLE_ARTIFACT).awaitReady()) {
            var clients = new ArrayList<RawConnection>();
            for (int i = 0; i < 400; i++) {
                clients.add(new RawConnection(server.port()).send(half));
            }
            for (int i = 0; i < 3; i++) {
                assertThatEverybodyIsAnswered(server);
            }
            for (var client : clients) {
                client.close();
            }
        }
    }

    @Test
    void hooksThatTakeAllDescriptorsDoNotKeepTheHealthCheckOut() throws Exception {
        CodeArtifact.plain(directory, """
        private final List<InputStream> open = new ArrayList<>();
        public List<String> predictFn(List<String> records, Object model) {
          try {
            while (true) { open.add(new FileInputStream("/dev/null")); }
          } catch (IOException e) {
            return records;
          }
        }
        """);
        try (var server = serve(directory).awaitReady()) {
            var idle = new ArrayList<RawConnection>();
            for (int i = 0; i < 5; i++) {
                var connection = new RawConnection(server.port()).send("GET /ping HTTP/1.1\r\nHost: x\r\n\r\n");
                assertThat(connection.readResponse()).startsWith("HTTP/1.1 200");
                idle.add(connection);
            }
            assertStatus(server.invokeAsync("all").get(), 200);
            for (int i = 0; i < 5; i++) {
                try (var connection = new RawConnection(server.port()).send("GET /ping HTTP/1.1\r\nHost: x\r\n\r\n")) {
                    assertThat(connection.readResponse()).startsWith("HTTP/1.1 200");
                }
            }
            // The log is written by a thread of its own.
            await().until(() ->
                    (server.err() + server.out()).matches("(?s).*can't accept connections.*Too many open files.*"));
            for (var connection : idle) {
                connection.close();
            }
        }
    }

    @Test
    void fewerThanItsJarsTakeAreRefusedWithTheirNumber() throws Exception {
        try (var server = serve(TestServer.SAMPLE_ARTIFACT, 64)) {
            assertThat(server.exitCode()).isEqualTo(1);
            assertThat(server.err())
                    .isEqualTo("open files: found a limit of 64, expected 160 or more, because each jar is one; "
                            + "raise it with ulimit -n, or docker run --ulimit nofile=1024\n");
        }
    }

    /// Each on a connection of its own: an idle one may have made way.
    private static void assertThatEverybodyIsAnswered(ServeProcess server) throws IOException, InterruptedException {
        try (var client = HttpClient.newHttpClient()) {
            var ping =
                    HttpRequest.newBuilder(server.uri("/ping")).timeout(LIMIT).build();
            assertThat(client.send(ping, BodyHandlers.ofString()).statusCode()).isEqualTo(200);
        }
        try (var client = HttpClient.newHttpClient()) {
            // While the others still come, it may be told to come again.
            await().atMost(LIMIT).untilAsserted(() -> {
                var answer = client.send(server.invocation(QUESTION).build(), BodyHandlers.ofString());
                assertStatus(answer, 200, "\"answer\":\"Bob\"");
            });
        }
    }

    private static ServeProcess serve(Path artifact) throws IOException {
        return serve(artifact, 330);
    }

    private static ServeProcess serve(Path artifact, int descriptors) throws IOException {
        return ServeProcess.start(
                Map.of("BERTH_MODEL_DIR", artifact.toString(), "INSTANCE_TYPE", "cpu"),
                List.of(
                        "sh",
                        "-c",
                        "./serve --help > /dev/null && ulimit -n %d && exec ./serve".formatted(descriptors)));
    }
}
