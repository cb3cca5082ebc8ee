package dev.berth.dialects;

import static dev.berth.testing.TestServer.assertStatus;
import static dev.berth.testing.TestServer.json;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.hooks.BadInputException;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The paths and errors of TorchServe's inference API.
class TorchServeTest {

    @AutoClose
    private static TestServer server;

    @TempDir
    Path models;

    @BeforeAll
    static void start() throws Exception {
        var picky = TextHandler.before("inputFn", lines -> {
            switch (lines.getFirst()) {
                case "bad" -> throw new BadInputException("line: found bad, expected letters");
                case "broken" -> throw new IllegalStateException("a hook fails");
                default -> {}
            }
        });
        server = TestServer.with(picky).start("BERTH_MODEL_NAME=letters");
    }

    @ParameterizedTest
    @CsvSource({
        "POST, /predictions/letters",
        "PUT, /predictions/letters",
        "POST, /predictions/letters/1.0",
        "PUT, /predictions/letters/1"
    })
    void aModelIsAskedByItsName(String method, String path) throws Exception {
        assertThat(send(server, method, path, "a").body()).isEqualTo("A");
    }

    @ParameterizedTest
    @CsvSource({
        "POST, /predictions/letters, bad, 400, BadRequestException, 'line: found bad'",
        "POST, /predictions/letters, broken, 500, InternalServerException, inputFn",
        "POST, /predictions/other, a, 404, ModelNotFoundException, 'found \"other\", expected letters'",
        "POST, /predictions/letters/2.0, a, 404, ModelNotFoundException, 'version: found \"2.0\"'",
        "GET, /predictions/letters, '', 405, MethodNotAllowedException, 'expected POST, PUT'"
    })
    void errorsAreThoseOfTorchServe(String method, String path, String body, int code, String type, String message)
            throws Exception {
        var error = json(send(server, method, path, body), code);
        assertThat(error.fieldNames()).toIterable().containsExactlyInAnyOrder("code", "type", "message");
        assertThat(error.path("code").intValue()).isEqualTo(code);
        assertThat(error.path("type").textValue()).isEqualTo(type);
        assertThat(error.path("message").textValue()).contains(message);
    }

    @Test
    void ofManyModelsThePathNamesOne() throws Exception {
        Files.createSymbolicLink(models.resolve("qa"), TestServer.SAMPLE_ARTIFACT);
        try (var server = TestServer.ofDirectory(models).start()) {
            var question = "{\"question\": \"Who?\", \"context\": \"Bob came.\"}";
            assertThat(server.post("/predictions/qa", question).body()).contains("\"answer\":\"Bob\"");
            var none = send(server, "POST", "/predictions/none", "a");
            assertThat(json(none, 404).path("type").textValue()).isEqualTo("ModelNotFoundException");
        }
    }

    @Test
    void wherePlatformsRunTheServerThePathsAreNotThere() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start("SAGEMAKER_REGION=eu-west-1")) {
            assertStatus(send(server, "POST", "/predictions/model", "a"), 404);
        }
    }

    private static HttpResponse<String> send(TestServer server, String method, String path, String body)
            throws Exception {
        return server.send(HttpRequest.newBuilder(server.uri(path))
                .header("Content-Type", "text/plain")
                .header("Accept", "text/plain")
                .method(method, BodyPublishers.ofString(body))
                .build());
    }
}
