package dev.berth.handler.image;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.testing.TestServer;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Forms of requests and answers, and what is wrong with bad ones. `TaskTest` has the answers
/// themselves.
class ImageFormsTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path ARTIFACT =
            Path.of("src/test/resources/tasks/image-classification-resnet").toAbsolutePath();
    private static final Path IMAGES = Path.of("src/test/resources/images").toAbsolutePath();

    @AutoClose
    private static TestServer server;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.artifact(ARTIFACT).start();
    }

    private static byte[] picture(String name) throws Exception {
        return Files.readAllBytes(IMAGES.resolve(name));
    }

    private static String base64(String name) throws Exception {
        return Base64.getEncoder().encodeToString(picture(name));
    }

    private static HttpResponse<String> ask(String type, String accept, byte[] body) throws Exception {
        return server.invoke(BodyPublishers.ofByteArray(body), "Content-Type", type, "Accept", accept);
    }

    private static JsonNode json(String body) throws Exception {
        return TestServer.json(server.invoke(body, "Content-Type", "application/json"), 200);
    }

    @ParameterizedTest
    @CsvSource({
        "image/png, rgb.png",
        "image/jpeg, baseline.jpg",
        "image/gif, still.gif",
        "image/bmp, rgb.bmp",
        "image/webp, lossy.webp",
        "application/x-image, progressive.jpg",
        "image/png, baseline.jpg"
    })
    void aPictureIsAnsweredAsInJson(String type, String name) throws Exception {
        var found = ask(type, "application/json", picture(name));
        assertThat(TestServer.json(found, 200))
                .hasSize(5)
                .isEqualTo(json("\"%s\"".formatted(base64(name))))
                .isEqualTo(json("{\"inputs\": \"%s\"}".formatted(base64(name))))
                .isEqualTo(json("{\"inputs\": {\"b64\": \"%s\"}}".formatted(base64(name))))
                .isEqualTo(json("{\"inputs\": \"data:%s;base64,%s\"}".formatted(type, base64(name))))
                .isEqualTo(json("[\"%s\"]".formatted(base64(name))).path(0));
    }

    @Test
    void base64MayHaveLineBreaks() throws Exception {
        var lines = Base64.getMimeEncoder().encodeToString(picture("rgb.png")).replace("\r\n", "\\n");
        assertThat(lines).contains("\\n");
        assertThat(json("\"%s\"".formatted(lines))).isEqualTo(json("\"%s\"".formatted(base64("rgb.png"))));
    }

    @Test
    void eachLineOfJsonLinesHasParametersOfItsOwn() throws Exception {
        var body = "\"%1$s\"\n{\"inputs\": \"%1$s\", \"parameters\": {\"top_k\": 2}}\n".formatted(base64("rgb.png"));
        var lines = ask("application/jsonlines", "application/jsonlines", body.getBytes())
                .body()
                .split("\n");
        assertThat(lines).hasSize(2);
        assertThat(JSON.readTree(lines[0])).hasSize(5);
        assertThat(JSON.readTree(lines[1])).hasSize(2);
    }

    @Test
    void labelsStandSideBySideInCsv() throws Exception {
        var columns =
                ask("image/png", "text/csv", picture("rgb.png")).body().strip().split(",");
        assertThat(columns).hasSize(10);
        var best = json("\"%s\"".formatted(base64("rgb.png"))).path(0);
        assertThat(columns[0]).isEqualTo(best.path("label").asText());
        assertThat(Double.parseDouble(columns[1])).isEqualTo(best.path("score").doubleValue());
    }

    @Test
    void aBadRecordOfAJobIsAnErrorInItsPlace() throws Exception {
        try (var job =
                TestServer.artifact(ARTIFACT).set("BERTH_BAD_RECORDS", "keep").start()) {
            var body = "\"aGVsbG8=\"\n\"%s\"\n".formatted(base64("rgb.png"));
            var lines = job.invoke(body, "Content-Type", "application/jsonlines", "Accept", "application/jsonlines")
                    .body()
                    .split("\n");
            assertThat(JSON.readTree(lines[0]).path("error").asText())
                    .isEqualTo("line 1: image: found the text \"hello\", expected JPEG, PNG, GIF, BMP or WebP");
            assertThat(JSON.readTree(lines[1])).hasSize(5);
        }
    }

    /// @param body and message with single quotes in the place of double ones, and `%s` in that of a
    ///   picture
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
        {'inputs': 7} | inputs: found 7, expected base64, as a text or as {'b64': '…'}
        ['%s', null] | [1]: found null, expected base64, as a text or as {'b64': '…'}
        {'inputs': 'https://example.com/cat.png'} | inputs: found the address 'https://example.com/cat.png', expected the bytes themselves in base64: nothing is fetched
        {'inputs': 'data:image/svg+xml,<svg/>'} | inputs: found 'data:image/svg+xml,<svg/>', expected a data URL with ;base64,
        {'inputs': 'cat.png'} | inputs: not base64: Illegal base64 character 2e
        {'inputs': ''} | inputs: image: found no bytes, expected JPEG, PNG, GIF, BMP or WebP
        {'inputs': 'AAAA'} | inputs: image: found the first bytes 00 00 00, expected JPEG, PNG, GIF, BMP or WebP
        {'inputs': '%s', 'parameters': {'top_k': 0}} | parameters.top_k: found 0, expected a whole number of at least 1
        {'inputs': '%s', 'parameters': {'timeout': 1}} | parameters: found the unknown parameter 'timeout', expected one of top_k, function_to_apply
        """)
    void whatIsWrongIsNamed(String body, String message) throws Exception {
        var response = server.invoke(
                body.replace('\'', '"').replace("%s", base64("rgb.png")), "Content-Type", "application/json");
        assertThat(TestServer.json(response, 400).path("message").asText()).isEqualTo(message.replace('\'', '"'));
    }

    @Test
    void whatIsNoWholePictureIsRefused() throws Exception {
        assertStatus(
                ask("image/png", "application/json", "These are\nnotes of mine.".getBytes()),
                400,
                "image: found the text \\\"These are no…\\\", expected JPEG, PNG, GIF, BMP or WebP");
        assertStatus(ask("text/plain", "application/json", "a".getBytes()), 415);
        var half = Arrays.copyOf(picture("photo.png"), 700);
        assertStatus(ask("image/png", "application/json", half), 400, "image: PNG chunk at offset");
    }

    /// As on Neuron: a file for each number of pictures, filled up with black ones.
    @ParameterizedTest
    @ValueSource(strings = {"image-classification-resnet", "image-classification-vit"})
    void compiledShapesAnswerAsAnyShapeDoes(String name, @TempDir Path directory) throws Exception {
        var artifact = ARTIFACT.resolveSibling(name);
        var model = copied(artifact, directory);
        model.put("shapes", "compiled")
                .putArray("files")
                .add(JSON.createObjectNode().put("path", "model.pt").put("batch", 4))
                .add(JSON.createObjectNode().put("path", "model.pt").put("batch", 2));
        JSON.writeValue(directory.resolve("model.json").toFile(), model);
        var pictures =
                "[\"%s\", \"%s\", \"%s\"]".formatted(base64("rgb.png"), base64("photo.png"), base64("still.gif"));
        try (var compiled = TestServer.artifact(directory).start();
                var any = TestServer.artifact(artifact).start()) {
            var found = JSON.readTree(compiled.invoke(pictures, "Content-Type", "application/json")
                    .body());
            var expected = JSON.readTree(
                    any.invoke(pictures, "Content-Type", "application/json").body());
            assertThat(found).hasSize(3);
            Comparator<JsonNode> near = (one, other) ->
                    (one.isNumber() && Math.abs(one.doubleValue() - other.doubleValue()) < 1e-5) || one.equals(other)
                            ? 0
                            : 1;
            assertThat(found.equals(near, expected))
                    .as("%s%n%s", found, expected)
                    .isTrue();
        }
    }

    private static ObjectNode copied(Path artifact, Path directory) throws Exception {
        Files.copy(artifact.resolve("model.pt"), directory.resolve("model.pt"));
        return (ObjectNode) JSON.readTree(artifact.resolve("model.json").toFile());
    }

    /// @param field of `model.json`, or one of its `image`
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
        labels |  | model.json: labels: found none, expected a name for each class of the model
        labels | ['a cat'] | logits: found 6 of them, expected one for each of the 1 labels
        outputs | ['scores'] | model.json: outputs: found [scores], expected [logits]
        inputs | ['a', 'b'] | model.json: inputs: found [a, b], expected one
        shapes | 'some' | model.json: shapes: found "some", expected one of dynamic, compiled
        target | 'inf2' | model.json: shapes: found "dynamic", expected "compiled" for inf2
        files | [{'path': 'model.pt'}, {'path': 'model.pt'}] | model.json: files: found 2, expected one that takes every shape
        image |  | model.json: image: found nothing, expected an object; trace the model again
        image.crop |  | found neither a crop nor a resize to a height and a width, expected pictures of one size
        image.crop | {'height': 0, 'width': 8} | model.json: image.crop.height: found 0, expected a whole number
        image.resize | {'shorterSide': 'a'} | model.json: image.resize.shorterSide: found "a", expected a whole
        image.filter | 'linear' | model.json: image.filter: found "linear", expected one of nearest, box, bilinear
        image.scale | 'a' | model.json: image.scale: found "a", expected a number
        image.mean | [1, 2] | model.json: image.mean: found a list, expected a list of 3 numbers
        image.deviation | [1, 0, 1] | model.json: image.deviation: found [1.0, 0.0, 1.0], expected no 0
        image.channels | 'hsv' | model.json: image.channels: found "hsv", expected one of rgb, bgr
        parameters | {'top_k': 'a'} | model.json: parameters.top_k: found the text "a", expected a whole number
        """)
    void aWrongArtifactIsRefusedAtStart(String field, String value, String message, @TempDir Path directory)
            throws Exception {
        var model = copied(ARTIFACT, directory);
        Files.copy(ARTIFACT.resolve("sample.png"), directory.resolve("sample.png"));
        boolean nested = field.startsWith("image.");
        var object = nested ? (ObjectNode) model.path("image") : model;
        var name = nested ? field.substring("image.".length()) : field;
        object.remove(name);
        if (value != null) {
            object.set(name, JSON.readTree(value.replace('\'', '"')));
        }
        JSON.writeValue(directory.resolve("model.json").toFile(), model);
        assertThatThrownBy(() -> TestServer.artifact(directory).start()).hasStackTraceContaining(message);
    }

    @Test
    void aPictureOfAnotherSizeThanTheModelTakesIsFoundAtStart(@TempDir Path directory) throws Exception {
        var model = copied(ARTIFACT.resolveSibling("image-classification-vit"), directory);
        ((ObjectNode) model.path("image").path("resize")).put("height", 40).put("width", 24);
        JSON.writeValue(directory.resolve("model.json").toFile(), model);
        assertThatThrownBy(() -> TestServer.artifact(directory).start())
                .hasStackTraceContaining("the model does not take what the files beside it say");
    }
}
