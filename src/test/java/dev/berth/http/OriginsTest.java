package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What a page in the browser of somebody who can reach the server has it do.
@Timeout(300)
class OriginsTest {

    @TempDir
    private static Path models;

    private static TestServer server;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.ofDirectory(models).start();
    }

    @AfterAll
    static void stop() throws Exception {
        server.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "POST /models",
                "DELETE /models/m",
                "POST /v2/repository/models/m/load",
                "POST /v2/repository/models/m/unload"
            })
    void whatChangesTheServerIsNotForPagesFromElsewhere(String route) throws Exception {
        int port = server.port();
        for (var origin : new String[] {"https://evil.example", "null", "http://localhost:1", "http://[", ""}) {
            assertThat(ask(route, "localhost:" + port, "Origin: " + origin + "\r\n"))
                    .startsWith("HTTP/1.1 403")
                    .contains("Origin: found", "expected none or this server's own, http://localhost:" + port);
        }
        // A name that its owner points to this machine.
        assertThat(ask(route, "evil.example", "Origin: http://evil.example\r\n"))
                .startsWith("HTTP/1.1 403");
        for (var host : new String[] {"localhost:" + port, "127.0.0.1:" + port, "[::1]"}) {
            assertThat(ask(route, host, "Origin: http://" + host.replace("l", "L") + "\r\n"))
                    .doesNotStartWith("HTTP/1.1 403");
        }
        assertThat(ask(route, "any", "")).doesNotStartWith("HTTP/1.1 403");
    }

    private static String ask(String route, String host, String headers) throws Exception {
        try (var connection = new RawConnection(server.port())) {
            return connection
                    .send("%s HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\n%s\r\n".formatted(route, host, headers))
                    .readResponse();
        }
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "none",
            value = {"none", "text/plain", "application/x-www-form-urlencoded"})
    void aLoadSaysThatItIsJson(String type) throws Exception {
        var request = HttpRequest.newBuilder(server.uri("/models"))
                .POST(BodyPublishers.ofString("{\"model_name\": \"m\", \"url\": \"/nope\"}"));
        if (type != null) {
            request.header("Content-Type", type);
        }
        var refused = server.send(request.build());
        assertThat(refused.statusCode()).isEqualTo(415);
        assertThat(refused.body()).contains("Content-Type: found " + (type == null ? "nothing" : "\\\"" + type));
    }

    @Test
    void whereThereIsADirectoryOfModelsALoadIsBelowIt(@TempDir Path elsewhere) throws Exception {
        for (var url : new Path[] {elsewhere, models.resolve("../x"), Path.of("/")}) {
            var refused = server.load("m", url);
            assertThat(refused.statusCode()).isEqualTo(400);
            assertThat(refused.body()).contains("url: found", "expected a directory below " + models);
        }
    }
}
