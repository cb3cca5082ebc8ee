package dev.berth.dialects;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.json.JsonText;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The paths and errors of TorchServe's inference API.
class TorchServeTest {

    private static TestServer server;

    @TempDir
    Path models;

    private static final class PickyHandler extends TextHandler {
        @Override
        public List<String> inputFn(InvocationRequest request) throws IOException {
            var lines = super.inputFn(request);
            if (lines.contains("bad")) {
                throw new BadInputException("line: found bad, expected letters");
            }
            if (lines.contains("broken")) {
                throw new IllegalStateException("a hook fails");
            }
            return lines;
        }
    }

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.with(new PickyHandler())
                .set("BERTH_MODEL_NAME", "letters")
                .start();
    }

    @AfterAll
    static void stop() throws Exception {
        server.close();
    }

    @ParameterizedTest
    @CsvSource({
        "POST, /predictions/letters",
        "PUT, /predictions/letters",
        "POST, /predictions/letters/1.0",
        "PUT, /predictions/letters/1"
    })
    void aModelIsAskedByItsName(String method, String path) throws Exception {
        var answer = send(server, method, path, "a");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("A");
    }

    @ParameterizedTest
    @CsvSource({
        "POST, /predictions/letters, bad, 400, BadRequestException, 'line: found bad'",
        "POST, /predictions/letters, broken, 500, InternalServerException, inputFn",
        "POST, /predictions/other, a, 404, ModelNotFoundException, 'found \"other\", expected letters'",
        "POST, /predictions/letters/2.0, a, 404, ModelNotFoundException, 'version: found \"2.0\"'",
        "GET, /predictions/letters, '', 405, MethodNotAllowedException, 'expected POST, PUT'",
        "POST, /explanations/letters, a, 404, ResourceNotFoundException, 'POST /predictions/{name}'",
        "POST, /explanations/letters/1.0, a, 404, ResourceNotFoundException, 'explain nothing'"
    })
    void errorsAreThoseOfTorchServe(String method, String path, String body, int code, String type, String message)
            throws Exception {
        var answer = send(server, method, path, body);
        assertThat(answer.statusCode()).isEqualTo(code);
        var error = json(answer);
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
            assertThat(none.statusCode()).isEqualTo(404);
            assertThat(json(none).path("type").textValue()).isEqualTo("ModelNotFoundException");
        }
    }

    @Test
    void wherePlatformsRunTheServerThePathsAreNotThere() throws Exception {
        try (var server = TestServer.with(new TextHandler())
                .set("SAGEMAKER_REGION", "eu-west-1")
                .start()) {
            assertThat(send(server, "POST", "/predictions/model", "a").statusCode())
                    .isEqualTo(404);
            assertThat(send(server, "POST", "/explanations/model", "a").statusCode())
                    .isEqualTo(404);
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

    private static JsonNode json(HttpResponse<String> answer) throws IOException {
        return JsonText.read(answer.body().getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }
}
