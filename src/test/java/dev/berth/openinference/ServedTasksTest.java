package dev.berth.openinference;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.TestServer;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The tasks that need no code, by the protocol.
class ServedTasksTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path TASKS = Path.of("src/test/resources/tasks");
    private static final String LENGTH = "Inference-Header-Content-Length";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "text-classification-bert",
                "token-classification-bert",
                "sentence-embeddings-bert",
                "fill-mask-bert",
                "image-classification-resnet"
            })
    void tasksAnswerAsTheyAreDescribed(String task) throws Exception {
        var data = task.startsWith("image")
                ? Base64.getEncoder().encodeToString(picture())
                : "Marie [MASK] was born in Warsaw.";
        try (var server = TestServer.artifact(TASKS.resolve(task)).start()) {
            var described = json(server.get("/v2/models/model"));
            for (int records : List.of(1, 2)) {
                var request = JSON.createObjectNode();
                request.withArray("inputs")
                        .addObject()
                        .put("name", described.at("/inputs/0/name").asText())
                        .put("datatype", described.at("/inputs/0/datatype").asText())
                        .putPOJO("shape", List.of(records))
                        .putPOJO("data", Collections.nCopies(records, data));
                var outputs = json(infer(server, "model", request.toString())).path("outputs");
                assertThat(outputs).hasSameSizeAs(described.path("outputs"));
                for (int i = 0; i < outputs.size(); i++) {
                    var expected = described.path("outputs").path(i);
                    for (var field : List.of("name", "datatype")) {
                        assertThat(outputs.path(i).path(field)).isEqualTo(expected.path(field));
                    }
                    var shape = outputs.path(i).path("shape");
                    assertThat(shape).as("%s", expected).hasSameSizeAs(expected.path("shape"));
                    assertThat(shape.path(0).asInt()).isEqualTo(records);
                }
            }
        }
    }

    @Test
    void tasksAnswerByTheNamesOfTheirFields() throws Exception {
        var texts = """
        {"inputs": [{"name": "text", "datatype": "BYTES", "shape": [2, 1], "data": ["one", "two"]}]}""";
        try (var server =
                TestServer.artifact(TASKS.resolve("text-classification-bert")).start()) {
            var outputs = json(infer(server, "model", texts)).path("outputs");
            assertThat(outputs.findValuesAsText("name")).containsExactly("label", "score");
            assertThat(outputs.findValuesAsText("datatype")).containsExactly("BYTES", "FP64");
            assertThat(outputs.path(0).path("shape")).isEqualTo(JSON.readTree("[2]"));
        }
        try (var server =
                TestServer.artifact(TASKS.resolve("sentence-embeddings-bert")).start()) {
            var output = json(infer(server, "model", texts)).path("outputs").path(0);
            assertThat(output.path("name").asText()).isEqualTo("embedding");
            assertThat(output.path("datatype").asText()).isEqualTo("FP32");
            assertThat(output.path("shape").path(0).asInt()).isEqualTo(2);
            assertThat(json(server.get("/v2/models/model"))
                            .path("outputs")
                            .path(0)
                            .path("name")
                            .asText())
                    .isEqualTo("embedding");
        }
        try (var server =
                TestServer.artifact(TASKS.resolve("token-classification-bert")).start()) {
            var output = json(infer(server, "model", texts)).path("outputs").path(0);
            assertThat(json(server.get("/v2/models/model"))
                            .path("outputs")
                            .path(0)
                            .path("name")
                            .asText())
                    .isEqualTo("entities");
            assertThat(output.path("shape").path(0).asInt()).isEqualTo(2);
        }
        try (var server = TestServer.artifact(TASKS.resolve("image-classification-resnet"))
                .start()) {
            var base64 = Base64.getEncoder().encodeToString(picture());
            var asText = json(infer(server, "model", """
          {"inputs": [{"name": "image", "datatype": "BYTES", "shape": [1], "data": ["%s"]}]}""".formatted(base64)));
            assertThat(asText.path("outputs").findValuesAsText("name")).containsExactly("label", "score");
            for (var type : List.of("", ", \"content_type\": \"image/png\"")) {
                var raw = element(picture());
                var header = """
            {"inputs": [{"name": "image", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": %d%s}}]}""".formatted(raw.length, type);
                var response = inferBinary(server, "model", header, raw);
                assertThat(JSON.readTree(response.body())
                                .path("outputs")
                                .path(0)
                                .path("data"))
                        .isEqualTo(asText.path("outputs").path(0).path("data"));
            }
        }
    }

    private static byte[] picture() throws Exception {
        var picture = new ByteArrayOutputStream();
        ImageIO.write(new BufferedImage(8, 8, BufferedImage.TYPE_INT_RGB), "png", picture);
        return picture.toByteArray();
    }

    private static HttpResponse<String> infer(TestServer server, String model, String body) throws Exception {
        return server.send(request(server, model, body).build());
    }

    private static HttpRequest.Builder request(TestServer server, String model, String body) {
        return HttpRequest.newBuilder(server.uri("/v2/models/" + model + "/infer"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body));
    }

    private static HttpResponse<byte[]> inferBinary(TestServer server, String model, String header, byte[] raw)
            throws Exception {
        var json = header.getBytes(StandardCharsets.UTF_8);
        var body = Arrays.copyOf(json, json.length + raw.length);
        System.arraycopy(raw, 0, body, json.length, raw.length);
        return server.send(
                HttpRequest.newBuilder(server.uri("/v2/models/" + model + "/infer"))
                        .header("Content-Type", "application/octet-stream")
                        .header(LENGTH, Integer.toString(json.length))
                        .POST(BodyPublishers.ofByteArray(body))
                        .build(),
                BodyHandlers.ofByteArray());
    }

    private static byte[] element(byte[] bytes) {
        return ByteBuffer.allocate(4 + bytes.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(bytes.length)
                .put(bytes)
                .array();
    }

    private static JsonNode json(HttpResponse<String> response) throws Exception {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return JSON.readTree(response.body());
    }
}
