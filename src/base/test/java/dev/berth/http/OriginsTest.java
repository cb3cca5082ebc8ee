package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;

import dev.berth.testing.Origins;
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
    @ValueSource(strings = {"POST /models", "DELETE /models/m"})
    void whatChangesTheServerIsNotForPagesFromElsewhere(String route) throws Exception {
        Origins.assertRefusesPagesFromElsewhere(server, route);
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
        assertStatus(refused, 415, "Content-Type: found " + (type == null ? "nothing" : "\\\"" + type));
    }

    @Test
    void whereThereIsADirectoryOfModelsALoadIsBelowIt(@TempDir Path elsewhere) throws Exception {
        for (var url : new Path[] {elsewhere, models.resolve("../x"), Path.of("/")}) {
            var refused = server.load("m", url);
            assertStatus(refused, 400, "url: found", "expected a directory below " + models);
        }
    }
}
