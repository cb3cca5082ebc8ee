package dev.berth.examples;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.content.RecordIo;
import dev.berth.testing.TestServer;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The digits of `examples/`, asked over HTTP.
class MnistTest {

    private static final Path EXAMPLE = Path.of("examples/mnist");

    @AutoClose
    private static TestServer server;

    private static List<Path> digits;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.artifact(EXAMPLE).start();
        try (var files = Files.list(EXAMPLE.resolve("digits"))) {
            digits = files.sorted().toList();
        }
    }

    @Test
    @Tag("BAT-12")
    void eachPictureIsReadRightly() throws Exception {
        assertThat(digits).hasSize(40);
        for (var digit : digits) {
            assertThat(invoke(Files.readAllBytes(digit), "application/x-image"))
                    .as(digit.toString())
                    .isEqualTo(answer(digit));
            assertThat(invoke(Files.readAllBytes(digit), "image/png")).isEqualTo(answer(digit));
        }
    }

    @Test
    void everyFormatIsReadUnderItsOwnName() throws Exception {
        var images = Path.of("src/test/resources/images");
        for (var name : List.of("rgb.jpg", "still.gif", "rgb.bmp", "lossless.webp")) {
            var format = name.substring(name.indexOf('.') + 1).replace("jpg", "jpeg");
            assertThat(invoke(Files.readAllBytes(images.resolve(name)), "image/" + format))
                    .startsWith("{\"predictions\":");
        }
    }

    @Test
    @Tag("BAT-13")
    void framedRecordsAndABareOneGetTheSamePredictions() throws Exception {
        var records = new ArrayList<byte[]>();
        for (var digit : digits) {
            records.add(Files.readAllBytes(digit));
        }
        assertThat(invoke(RecordIo.write(records), "application/x-recordio"))
                .isEqualTo(digits.stream().map(MnistTest::answer).collect(Collectors.joining("\n")));
        assertThat(invoke(records.getFirst(), "application/x-recordio")).isEqualTo(answer(digits.getFirst()));
    }

    @Test
    void jsonLinesAreAnsweredLineByLine() throws Exception {
        var lines = new ArrayList<String>();
        for (var digit : digits) {
            lines.add("{\"image\": \"%s\"}".formatted(Base64.getEncoder().encodeToString(Files.readAllBytes(digit))));
        }
        assertThat(invoke(String.join("\n", lines).getBytes(StandardCharsets.UTF_8), "application/jsonlines"))
                .isEqualTo(digits.stream().map(MnistTest::answer).collect(Collectors.joining("\n")));
        assertThat(server.invoke(lines.getFirst() + "\n{\"image\": 7}", "Content-Type", "application/jsonlines")
                        .body())
                .contains("line 2: image: found 7, expected base64");
    }

    private static String answer(Path digit) {
        return "{\"predictions\":%s}".formatted(digit.getFileName().toString().charAt(0));
    }

    private static String invoke(byte[] body, String type) throws Exception {
        var response = server.invoke(
                BodyPublishers.ofByteArray(body), "Content-Type", type, "Accept", "application/jsonlines, */*;q=0.1");
        assertStatus(response, 200);
        return response.body();
    }
}
