package dev.berth.openinference;

import static dev.berth.testing.Infer.body;
import static dev.berth.testing.Infer.element;
import static dev.berth.testing.Infer.json;
import static dev.berth.testing.Infer.outputs;
import static dev.berth.testing.Infer.sendBinary;
import static dev.berth.testing.Infer.tree;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.testing.TestServer;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The tasks that need no code, by the protocol.
class ServedTasksTest {

    private static final Path TASKS = Path.of("src/test/resources/tasks");

    @ParameterizedTest
    @CsvSource({
        "text-classification-bert, label BYTES score FP64",
        "token-classification-bert, entities BYTES",
        "sentence-embeddings-bert, embedding FP32",
        "fill-mask-bert, score FP64 token INT64 token_str BYTES sequence BYTES",
        "image-classification-resnet, label BYTES score FP64"
    })
    void tasksAnswerAsTheyAreDescribed(String task, String columns) throws Exception {
        var data = task.startsWith("image")
                ? Base64.getEncoder().encodeToString(picture())
                : "Marie [MASK] was born in Warsaw.";
        try (var server = TestServer.artifact(TASKS.resolve(task)).start()) {
            var described = json(server.get("/v2/models/model"));
            var input = described.at("/inputs/0");
            for (int records : List.of(1, 2)) {
                var outputs = outputs(
                        server,
                        body("%s %s [%d] %s"
                                .formatted(
                                        input.path("name").asText(),
                                        input.path("datatype").asText(),
                                        records,
                                        String.join(",", Collections.nCopies(records, '"' + data + '"')))));
                assertThat(columns(outputs))
                        .isEqualTo(columns(described.path("outputs")))
                        .isEqualTo(columns);
                for (int i = 0; i < outputs.size(); i++) {
                    var shape = outputs.path(i).path("shape");
                    assertThat(shape).hasSameSizeAs(described.at("/outputs/%d/shape".formatted(i)));
                    assertThat(shape.path(0).asInt()).isEqualTo(records);
                }
            }
        }
    }

    private static String columns(JsonNode tensors) {
        return tensors.valueStream()
                .map(tensor -> tensor.path("name").asText() + " "
                        + tensor.path("datatype").asText())
                .collect(Collectors.joining(" "));
    }

    @Test
    void aPictureComesAsBase64OrAsBytes() throws Exception {
        try (var server = TestServer.artifact(TASKS.resolve("image-classification-resnet"))
                .start()) {
            var base64 = Base64.getEncoder().encodeToString(picture());
            var asText = outputs(server, body("image BYTES [1] \"%s\"".formatted(base64)));
            for (var type : List.of("", ", \"content_type\": \"image/png\"")) {
                var raw = element(picture());
                var header = """
            {"inputs": [{"name": "image", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": %d%s}}]}""".formatted(raw.length, type);
                var response = sendBinary(server, "model", header, raw);
                assertThat(tree(new String(response.body(), StandardCharsets.UTF_8))
                                .at("/outputs/0/data"))
                        .isEqualTo(asText.at("/0/data"));
            }
        }
    }

    private static byte[] picture() throws Exception {
        var picture = new ByteArrayOutputStream();
        ImageIO.write(new BufferedImage(8, 8, BufferedImage.TYPE_INT_RGB), "png", picture);
        return picture.toByteArray();
    }
}
