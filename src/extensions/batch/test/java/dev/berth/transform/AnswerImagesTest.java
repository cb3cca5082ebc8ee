package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.content.Json;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.testing.S3Server;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The images of answers as files, of a real server whose model answers with the
/// images that a prompt names.
class AnswerImagesTest {

    private static final Path DIGITS = Path.of("examples/mnist/digits");
    private static final Path STAR = Path.of("examples/image-classification/pictures/blue-star.jpg");

    @AutoClose
    private static TestServer server;

    @TempDir
    private Path directory;

    private TestJob job;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.with(new Prompts() {
                    @Override
                    public InvocationResponse outputFn(List<String> predictions, InvocationRequest request)
                            throws IOException {
                        var images = new ArrayList<String>();
                        for (var word :
                                predictions.getFirst().toLowerCase(Locale.ROOT).split(" ")) {
                            images.add(
                                    switch (word) {
                                        case "star" -> "data:image/jpeg;base64," + base64(STAR);
                                        case "none" -> "/9j/ is no image, whatever it begins with";
                                        // RIFF holds sounds too.
                                        case "sound" ->
                                            Base64.getEncoder()
                                                    .encodeToString("RIFF....WAVEfmt and so on, and on".getBytes());
                                        default -> base64(DIGITS.resolve(word + ".png"));
                                    });
                        }
                        return InvocationResponse.of(
                                Json.write(Map.of("images", images, "usage", Map.of())), request.accept());
                    }
                })
                .start("SAGEMAKER_BATCH=true");
    }

    private static String base64(Path file) throws IOException {
        return Base64.getEncoder().encodeToString(Files.readAllBytes(file));
    }

    @BeforeEach
    void prepare() {
        job = new TestJob(directory, "--format bedrock --max-concurrent-transforms 4");
    }

    @Test
    void anImageIsAFileThatIsNamedByItsRecord() throws Exception {
        job.write("""
        {"recordId": "A1", "modelInput": {"prompt": "1-00"}}
        {"recordId": "A2", "modelInput": {"prompt": "2-00 star 2-01"}}
        {"recordId": "A3", "modelInput": {"prompt": 3}}
        {"recordId": "A4", "modelInput": {"prompt": "none sound"}}
        {"modelInput": {"prompt": "5-00"}}
        """);
        assertThat(run("--extract image/*")).matches(JobReport::isComplete);
        assertThat(names()).containsExactly("A1.png", "A2-2.png", "A2.jpg", "A2.png", "RECORD00000005.png");
        assertThat(directory.resolve("out/in/A1.png")).hasSameBinaryContentAs(DIGITS.resolve("1-00.png"));
        assertThat(directory.resolve("out/in/A2.png")).hasSameBinaryContentAs(DIGITS.resolve("2-00.png"));
        assertThat(directory.resolve("out/in/A2-2.png")).hasSameBinaryContentAs(DIGITS.resolve("2-01.png"));
        assertThat(directory.resolve("out/in/A2.jpg")).hasSameBinaryContentAs(STAR);
        assertThat(Files.readAllLines(directory.resolve("out/in.out")))
                .hasSize(5)
                .element(0)
                .asString()
                .as("the line has the image too")
                .contains(base64(DIGITS.resolve("1-00.png")));
        assertThat(directory.resolve("out/manifest.json.out")).content().contains("\"successRecordCount\":4");
    }

    @Test
    void onlyImagesOfTheTypeAreExtracted() throws Exception {
        job.write("{\"custom_id\": \"a\", \"body\": {\"prompt\": \"1-00 star\"}}");
        run("--extract image/jpeg --format openai");
        assertThat(names()).containsExactly("a.jpg");
    }

    @Test
    void idsThatAreNoNamesAreEscapedAndThoseThatStandTwiceGetANumber() throws Exception {
        var ids = List.of("x", "X", "x-2", "x", "../a/b c", "é", ".hidden", "", "%", "L".repeat(300), "L".repeat(301));
        job.write(ids.stream()
                .map(id -> "{\"recordId\": \"%s\", \"modelInput\": {\"prompt\": \"1-00\"}}".formatted(id))
                .collect(Collectors.joining("\n")));
        assertThat(run("--extract image/png")).matches(JobReport::isComplete);
        assertThat(names())
                .hasSize(ids.size())
                .contains(
                        "x.png",
                        "X-2.png",
                        "x-2-2.png",
                        "x-3.png",
                        "%2E.%2Fa%2Fb%20c.png",
                        "%C3%A9.png",
                        "%2Ehidden.png",
                        "_.png",
                        "%25.png");
        assertThat(names())
                .filteredOn(name -> name.startsWith("L"))
                .hasSize(2)
                .allSatisfy(name -> assertThat(name).matches("L{120}~[0-9a-f]{16}\\.png"));
    }

    @Test
    void aRerunWritesOnlyWhatIsNotThere() throws Exception {
        job.write("""
        {"recordId": "gone", "modelInput": {"prompt": "1-00"}}
        {"recordId": "stale", "modelInput": {"prompt": "2-00"}}
        {"recordId": "same", "modelInput": {"prompt": "3-00"}}
        """);
        run("--extract image/png");
        var images = directory.resolve("out/in");
        Files.delete(images.resolve("gone.png"));
        Files.write(images.resolve("stale.png"), new byte[(int) Files.size(images.resolve("stale.png"))]);
        var before = FileTime.fromMillis(1_000_000);
        Files.setLastModifiedTime(images.resolve("same.png"), before);
        assertThat(job.run(server.uri("/"))).extracting("tally.skipped").isEqualTo(1L);
        assertThat(images.resolve("gone.png")).hasSameBinaryContentAs(DIGITS.resolve("1-00.png"));
        assertThat(images.resolve("stale.png")).hasSameBinaryContentAs(DIGITS.resolve("2-00.png"));
        assertThat(Files.getLastModifiedTime(images.resolve("same.png"))).isEqualTo(before);
    }

    @Test
    void anObjectWhoseFilesCantBeWrittenFailsUntilTheyCan() throws Exception {
        job.write("{\"recordId\": \"A1\", \"modelInput\": {\"prompt\": \"1-00\"}}");
        Files.createDirectory(directory.resolve("out"));
        Files.writeString(directory.resolve("out/in"), "a file in the place of the directory");
        var report = run("--extract image/png");
        assertThat(Unwatched.failure(report)).contains("A1.png");
        Files.delete(directory.resolve("out/in"));
        assertThat(run("--extract image/png")).matches(JobReport::isComplete);
        assertThat(names()).containsExactly("A1.png");
    }

    @Test
    @Tag("BED-01")
    void inS3ItIsTheSame() throws Exception {
        try (var s3 = S3Server.start().createBucket("images")) {
            for (int i = 0; i < 4; i++) {
                s3.put(
                        "images",
                        "in/%d.jsonl".formatted(i),
                        "{\"recordId\": \"r/%1$d\", \"modelInput\": {\"prompt\": \"%1$d-00\"}}\n"
                                .formatted(i)
                                .repeat(12));
            }
            for (int instance = 0; instance < 2; instance++) {
                job.set(
                        "--input s3://images/in/ --output s3://images/out --extract image/png "
                                + "--instance-count 2 --instance-index %s",
                        instance);
                try (var storage = Impatient.storage(s3.endpoint())) {
                    assertThat(TestJob.run(job.read(storage), server.uri("/")))
                            .matches(JobReport::isComplete)
                            .extracting("tally.objects")
                            .isEqualTo(2L);
                }
            }
            assertThat(s3.keys("images"))
                    .filteredOn(key -> key.startsWith("out/3.jsonl/"))
                    .hasSize(12)
                    .contains("out/3.jsonl/r%2F3.png", "out/3.jsonl/r%2F3-12.png");
            assertThat(s3.bytes("images", "out/3.jsonl/r%2F3-12.png"))
                    .isEqualTo(Files.readAllBytes(DIGITS.resolve("3-00.png")));
            assertThat(s3.contentType("images", "out/3.jsonl/r%2F3.png")).isEqualTo("image/png");
        }
    }

    private JobReport run(String flags, Object... values) {
        return job.set(flags, values).run(server.uri("/"));
    }

    private List<String> names() throws IOException {
        try (var files = Files.list(directory.resolve("out/in"))) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }
}
