package dev.berth.examples;

import static dev.berth.testing.TestServer.assertStatus;
import static dev.berth.testing.TestServer.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.image.Image;
import dev.berth.testing.TestServer;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The generator of `examples/`, asked over HTTP.
class TextToImageTest {

    private static final Path EXAMPLE = Path.of("examples/text-to-image");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PROMPT =
            "{\"prompt\": \"a big red circle on a white background\", \"seed\": %d, \"steps\": 4}";

    @AutoClose
    private static TestServer server;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.artifact(EXAMPLE).start("SAGEMAKER_MODEL_SERVER_WORKERS=2");
    }

    @Test
    void aPromptIsAnsweredAsStableDiffusionAnswersOnBedrock() throws Exception {
        var answer = answer(
                "{\"prompt\": \"An orange ring, on a BLACK background.\", \"seed\": 4294967295, \"steps\": 2, \"n\": 2}");
        assertThat(answer.path("seeds")).hasToString("[4294967295,0]");
        assertThat(answer.path("images")).hasSize(2);
        for (var image : answer.path("images")) {
            var picture = Image.read(image.binaryValue());
            assertThat(List.of(picture.width(), picture.height())).containsExactly(64, 64);
        }
        assertThat(answer.size()).isEqualTo(2);
    }

    @Test
    void thePictureShowsWhatThePromptNames() throws Exception {
        for (int seed = 1; seed < 4; seed++) {
            var rgb = Image.read(picture(
                            "{\"prompt\": \"a big red circle on a white background\", \"seed\": %d}".formatted(seed)))
                    .rgb()
                    .data();
            int red = 0;
            int white = 0;
            for (int i = 0; i < rgb.remaining(); i += 3) {
                int green = rgb.get(i + 1) & 0xff;
                red += (rgb.get(i) & 0xff) > 180 && green < 90 ? 1 : 0;
                white += (rgb.get(i) & 0xff) > 220 && green > 220 ? 1 : 0;
            }
            assertThat(red).as("red of 4096 pixels").isBetween(600, 2200);
            assertThat(white).as("white of 4096 pixels").isGreaterThan(1500);
        }
    }

    @Test
    void theSameSeedIsTheSamePictureAloneAndInCompany() throws Exception {
        var alone = picture(PROMPT.formatted(7));
        assertThat(picture(PROMPT.formatted(7))).isEqualTo(alone);
        assertThat(picture(PROMPT.formatted(8))).isNotEqualTo(alone);
        var company =
                IntStream.range(0, 12).mapToObj(seed -> PROMPT.formatted(seed)).toList();
        var requests = IntStream.range(0, 3)
                .mapToObj(_ -> server.invokeAsync(
                        String.join("\n", company),
                        "Content-Type",
                        "application/jsonlines",
                        "Accept",
                        "application/jsonlines"))
                .toList();
        for (var request : requests) {
            var lines = request.join().body().split("\n");
            assertThat(lines).hasSize(12);
            assertThat(first(JSON.readTree(lines[7]))).isEqualTo(alone);
            assertThat(first(JSON.readTree(lines[8]))).isNotEqualTo(alone);
        }
        try (var other =
                TestServer.artifact(EXAMPLE).start("SAGEMAKER_MODEL_SERVER_WORKERS=1", "BERTH_CPU_PROFILE=latency")) {
            assertThat(first(json(other.invoke(PROMPT.formatted(7)), 200)))
                    .as("with another number of threads")
                    .isEqualTo(alone);
        }
    }

    @Test
    void aSeedThatWasChosenIsSaidSoThatThePictureCanBeMadeAgain() throws Exception {
        var prompt = "{\"prompt\": \"two small stars\", \"steps\": 2%s}";
        var chosen = answer(prompt.formatted(""));
        assertThat(answer(prompt.formatted(", \"seed\": " + chosen.path("seeds").path(0))))
                .isEqualTo(chosen);
        var bare = bytes(prompt.formatted(""), "Accept", "image/png");
        var seed =
                bare.headers().firstValue("X-Amzn-SageMaker-Custom-Attributes").orElseThrow();
        assertThat(seed).matches("seed=\\d+");
        assertThat(picture(prompt.formatted(", \"seed\": " + seed.substring(5))))
                .isEqualTo(bare.body());
        assertThat(answer(prompt.formatted("")).path("seeds")).isNotEqualTo(chosen.path("seeds"));
    }

    @Test
    void aPictureMayBeTheAnswerItself() throws Exception {
        var png = bytes(PROMPT.formatted(7), "Accept", "image/png");
        assertThat(png.headers().firstValue("Content-Type")).contains("image/png");
        assertThat(png.body()).isEqualTo(picture(PROMPT.formatted(7)));
        var jpeg = bytes("a red circle", "Content-Type", "text/plain", "Accept", "image/jpeg");
        assertThat(jpeg.headers().firstValue("Content-Type")).contains("image/jpeg");
        assertThat(jpeg.body()).startsWith(0xff, 0xd8, 0xff);
        assertThat(bytes("[" + PROMPT.formatted(7) + "]", "Accept", "image/*").body())
                .isEqualTo(png.body());
        var inJson = answer("{\"prompt\": \"a red circle\", \"steps\": 1, \"output_format\": \"jpeg\"}");
        assertThat(first(inJson)).startsWith(0xff, 0xd8, 0xff);
    }

    @Test
    void severalPicturesAreAnArchive() throws Exception {
        var prompts = "[%s, {\"prompt\": \"two blue crosses\", \"seed\": 3, \"steps\": 2, \"n\": 2}]"
                .formatted(PROMPT.formatted(7));
        var archive = bytes(prompts, "Accept", "application/zip");
        assertThat(archive.headers().firstValue("Content-Type")).contains("application/zip");
        var names = new ArrayList<String>();
        try (var zip = new ZipInputStream(new ByteArrayInputStream(archive.body()))) {
            for (var entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                names.add(entry.getName());
                var picture = zip.readAllBytes();
                assertThat(Image.read(picture).width()).isEqualTo(64);
                if (names.size() == 1) {
                    assertThat(picture).isEqualTo(picture(PROMPT.formatted(7)));
                }
            }
        }
        assertThat(names).containsExactly("1-seed-7.png", "2-seed-3.png", "2-seed-4.png");
        assertThat(bytes(prompts, "Accept", "application/zip").body()).isEqualTo(archive.body());
    }

    @Test
    void severalPicturesAreTheFilesOfAMultipartBody() throws Exception {
        var answer = bytes("[%s, %s]".formatted(PROMPT.formatted(7), PROMPT.formatted(8)), "Accept", "multipart/mixed");
        var type = answer.headers().firstValue("Content-Type").orElseThrow();
        assertThat(type).matches("multipart/mixed; boundary=[\\w-]+");
        var parts = new String(answer.body(), StandardCharsets.ISO_8859_1)
                .split("\r\n?--" + type.substring(type.indexOf('=') + 1));
        assertThat(parts).hasSize(3);
        assertThat(parts[1]).contains("Content-Type: image/png\r\n", "filename=\"2-seed-8.png\"\r\n\r\n");
        assertThat(parts[1].substring(parts[1].indexOf("\r\n\r\n") + 4).getBytes(StandardCharsets.ISO_8859_1))
                .isEqualTo(picture(PROMPT.formatted(8)));
        assertThat(parts[2]).isEqualTo("--\r\n");
    }

    @Test
    void whatCantBeWrittenIsNotAcceptable() throws Exception {
        var several = server.invoke("[%1$s, %1$s]".formatted(PROMPT.formatted(7)), "Accept", "image/png");
        assertStatus(several, 406, "Accept: found image/png for 2 files, expected application/zip or multipart/mixed");
        var csv = server.invoke(PROMPT.formatted(7), "Accept", "text/csv");
        assertStatus(csv, 406, "application/json", "application/zip", "multipart/mixed", "image/png", "image/jpeg");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      {"prompt": "a red circle", "steps": 0}         | steps: found 0, expected a whole number from 1 to 100
      {"prompt": "a red circle", "steps": 101}       | steps: found 101, expected a whole number from 1 to 100
      {"prompt": "a red circle", "steps": 2.5}       | steps: found 2.5, expected a whole number from 1 to 100
      {"prompt": "a red circle", "steps": "2"}       | steps: found the text \\"2\\", expected a whole number
      {"prompt": "a red circle", "seed": -1}         | seed: found -1, expected a whole number from 0 to 4294967295
      {"prompt": "a red circle", "seed": 4294967296} | seed: found 4294967296, expected a whole number from 0 to
      {"prompt": "a red circle", "n": 9}             | n: found 9, expected a whole number from 1 to 8
      {"prompt": "a red circle", "width": 512}       | body: found the unknown field \\"width\\", expected one of prompt, seed, steps, n
      {"prompt": "a red circle", "output_format": "gif"} | output_format: found the text \\"gif\\", expected one of png, jpeg
      {"prompt": "a pink circle"}                    | prompt: found the word \\"pink\\", expected words that it knows: a, two, three
      {"prompt": " ,. "}                             | prompt: found 0 words, expected 1 to 10
      {"prompt": "a a a a a a a a a a a"}            | prompt: found 11 words, expected 1 to 10
      {"prompt": 7}                                  | prompt: found 7, expected a text
      {}                                             | prompt: found nothing, expected a text
      "a red circle"                                 | body: found the text \\"a red circle\\", expected an object
      [{"prompt": "a ring"}, {"prompt": "no ring"}]  | [1].prompt: found the word \\"no\\"
      """, quoteCharacter = '`')
    void whatIsWrongIsNamed(String body, String message) throws Exception {
        assertStatus(server.invoke(body), 400, message);
    }

    @Test
    void aBadLineIsNamed() throws Exception {
        var lines = PROMPT.formatted(7) + "\n{\"prompt\": \"a dog\"}";
        assertStatus(
                server.invoke(lines, "Content-Type", "application/jsonlines"),
                400,
                "line 2: prompt: found the word \\\"dog\\\"");
    }

    @Test
    void nothingIsAnsweredByNothing() throws Exception {
        assertThat(server.invoke("[]").body()).isEqualTo("[]");
        assertStatus(server.invoke("[]", "Accept", "image/png"), 406);
    }

    private static byte[] picture(String body) throws Exception {
        return first(answer(body));
    }

    private static byte[] first(JsonNode answer) throws IOException {
        return answer.at("/images/0").binaryValue();
    }

    private static JsonNode answer(String body) throws Exception {
        return json(server.invoke(body), 200);
    }

    private static HttpResponse<byte[]> bytes(String body, String... headers) throws Exception {
        var answer = server.invoke(body.getBytes(StandardCharsets.UTF_8), headers);
        assertStatus(answer, 200);
        return answer;
    }
}
