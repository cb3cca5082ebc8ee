package dev.berth.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Collectors;

/// Requests for inference over HTTP.
public final class Infer {

    private static final ObjectMapper JSON = new ObjectMapper();

    public static final String LENGTH = "Inference-Header-Content-Length";

    private Infer() {}

    /// @param inputs a name, a type, a shape and data each, such as `values FP32 [2] 1,2`
    public static String body(String... inputs) {
        return bodyWith("", inputs);
    }

    /// @param fields of the request, each with a comma behind it
    public static String bodyWith(String fields, String... inputs) {
        return Arrays.stream(inputs)
                .map(input -> input.split(" ", 4))
                .map(parts -> "{\"name\": \"%s\", \"datatype\": \"%s\", \"shape\": %s, \"data\": [%s]}"
                        .formatted((Object[]) parts))
                .collect(Collectors.joining(", ", "{" + fields + "\"inputs\": [", "]}"));
    }

    public static HttpRequest.Builder request(TestServer server, String model, String body) {
        return HttpRequest.newBuilder(server.uri("/v2/models/" + model + "/infer"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body));
    }

    public static HttpResponse<String> send(TestServer server, String model, String body) throws Exception {
        return server.send(request(server, model, body).build());
    }

    /// The outputs of the only model.
    public static JsonNode outputs(TestServer server, String body) throws Exception {
        return json(send(server, "model", body)).path("outputs");
    }

    public static JsonNode json(HttpResponse<String> response) throws Exception {
        return TestServer.json(response, 200);
    }

    public static JsonNode tree(String json) throws Exception {
        return JSON.readTree(json);
    }

    /// The protocol has the message alone.
    public static void assertError(HttpResponse<String> response, int status, String... message) throws Exception {
        var error = TestServer.json(response, status);
        assertThat(error.properties()).hasSize(1);
        assertThat(error.path("error").asText()).contains(message);
    }

    /// Sends what stands behind the header in the body as it is.
    public static HttpResponse<byte[]> sendBinary(TestServer server, String model, String header, byte[] raw)
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

    /// A text or bytes among raw contents: the length stands in front.
    public static byte[] element(byte[] bytes) {
        return ByteBuffer.allocate(4 + bytes.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(bytes.length)
                .put(bytes)
                .array();
    }
}
