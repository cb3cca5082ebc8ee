package dev.berth.examples;

import static dev.berth.testing.TestServer.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.TestServer;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The classifier of `examples/`, asked over HTTP.
class ImageClassificationTest {

    private static final Path EXAMPLE = Path.of("examples/image-classification");
    private static final ObjectMapper JSON = new ObjectMapper();

    @AutoClose
    private static TestServer server;

    private static List<Path> pictures;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.artifact(EXAMPLE).start();
        try (var files = Files.list(EXAMPLE.resolve("pictures"))) {
            pictures = files.sorted().toList();
        }
    }

    @Test
    @Tag("BAT-12")
    void aRawPictureIsClassified() throws Exception {
        assertThat(pictures).hasSize(6);
        for (var picture : pictures) {
            for (var type : List.of("application/x-image", "image/jpeg")) {
                var predictions = predictions(BodyPublishers.ofFile(picture), type);
                assertThat(predictions).singleElement().satisfies(prediction -> assertIs(prediction, picture));
            }
        }
    }

    @Test
    @Tag("TFS-01")
    @Tag("TFS-03")
    void instancesOfBase64AreClassifiedInTheirOrder() throws Exception {
        var instances = new ArrayList<Map<String, String>>();
        for (var picture : pictures) {
            instances.add(Map.of("b64", Base64.getEncoder().encodeToString(Files.readAllBytes(picture))));
        }
        var predictions = predictions(
                BodyPublishers.ofString(JSON.writeValueAsString(Map.of("instances", instances))), "application/json");
        assertThat(predictions).hasSize(pictures.size());
        for (int i = 0; i < pictures.size(); i++) {
            assertIs(predictions.path(i), pictures.get(i));
        }
    }

    @Test
    void jsonLinesAreAnsweredLineByLineWithAsManyClassesAsALineWants() throws Exception {
        var lines = new ArrayList<String>();
        for (int i = 0; i < pictures.size(); i++) {
            lines.add(JSON.writeValueAsString(Map.of(
                    "image",
                    Base64.getEncoder().encodeToString(Files.readAllBytes(pictures.get(i))),
                    "top_k",
                    i % 2 == 0 ? 5 : 100)));
        }
        var answers = server.invoke(
                        String.join("\n", lines),
                        "Content-Type",
                        "application/jsonlines",
                        "Accept",
                        "application/jsonlines")
                .body()
                .split("\n");
        assertThat(answers).hasSameSizeAs(pictures);
        for (int i = 0; i < pictures.size(); i += 2) {
            assertIs(JSON.readTree(answers[i]), pictures.get(i));
        }
        var all = JSON.readTree(answers[1]);
        assertThat(all.path("classes")).hasSize(10);
        assertThat(all.path("probabilities")
                        .valueStream()
                        .mapToDouble(JsonNode::doubleValue)
                        .sum())
                .isBetween(0.999, 1.001);
    }

    @Test
    void topKStandsBesideInstancesToo() throws Exception {
        var picture = Base64.getEncoder().encodeToString(Files.readAllBytes(pictures.getFirst()));
        var body = "{\"instances\": [{\"b64\": \"%s\"}], \"top_k\": %s}";
        for (var most : Map.of("10", 10, "null", 5).entrySet()) {
            var answer = json(server.invoke(body.formatted(picture, most.getKey())), 200);
            assertThat(answer.at("/predictions/0/classes")).hasSize(most.getValue());
        }
        for (var wrong : List.of("0", "1.5", "\"all\"")) {
            assertThat(server.invoke(body.formatted(picture, wrong)).body())
                    .contains("top_k: found ", "expected a whole number of at least 1");
        }
        assertThat(server.invoke(body.formatted(picture, "1").replace("top_k", "topk"))
                        .body())
                .contains("body: found the unknown field \\\"topk\\\", expected top_k");
    }

    @Test
    @Tag("ERR-01")
    void whatIsNoPictureIsNamed() throws Exception {
        assertThat(server.invoke("{\"instances\": [{\"b64\": \"AAAA\"}]}").body())
                .contains("image: found the first bytes 00 00 00");
        assertThat(server.invoke("{\"instances\": [7]}").body())
                .contains("instances[0]: found 7, expected {\\\"b64\\\"");
        assertThat(server.invoke("x", "Content-Type", "text/csv").statusCode()).isEqualTo(415);
    }

    /// The likeliest class is what the file is called, and probabilities fall.
    private static void assertIs(JsonNode prediction, Path picture) {
        assertThat(prediction.path("classes").path(0).asText().replace(' ', '-') + ".jpg")
                .isEqualTo(picture.getFileName().toString());
        assertThat(prediction.path("classes")).hasSize(5);
        var probabilities = prediction
                .path("probabilities")
                .valueStream()
                .map(JsonNode::doubleValue)
                .toList();
        assertThat(probabilities).hasSize(5).isSortedAccordingTo((a, b) -> Double.compare(b, a));
        assertThat(probabilities.getFirst()).isBetween(0.5, 1.0);
    }

    private static JsonNode predictions(BodyPublisher body, String type) throws Exception {
        return json(server.invoke(body, "Content-Type", type), 200).path("predictions");
    }
}
