package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.S3Server;
import dev.berth.testing.TestServer;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Batches of pictures in the shapes of the platform's own samples, from S3 to S3, with the digits'
/// model.
@Tag("slow")
class PictureJobTest {

    private static final String BUCKET = "pictures";
    private static final int PICTURES = 300;
    private static final Path DIGITS = Path.of("examples/mnist/digits");

    private static final Map<String, String> EXPECTED = new TreeMap<>();
    private static S3Server s3;
    private static TestServer container;

    @BeforeAll
    static void start() throws Exception {
        container = TestServer.artifact(Path.of("examples/mnist")).start("SAGEMAKER_BATCH=true");
        s3 = S3Server.start().createBucket(BUCKET);
        List<Path> digits;
        try (var files = Files.list(DIGITS)) {
            digits = files.sorted().toList();
        }
        for (int i = 0; i < PICTURES; i++) {
            var digit = digits.get(i % digits.size());
            s3.put(BUCKET, "mnist/%04d.png".formatted(i), Files.readAllBytes(digit));
            EXPECTED.put(
                    "%04d.png.out".formatted(i),
                    "{\"predictions\":%s}"
                            .formatted(digit.getFileName().toString().charAt(0)));
        }
    }

    @AfterAll
    static void stop() throws Exception {
        container.close();
        s3.close();
    }

    @Test
    @Tag("BAT-12")
    void hundredsOfDigitsAreReadByPrefixByManifestAndByTwoInstances() throws Exception {
        assertThat(run(Map.of(JobOption.INPUT, "s3://pictures/mnist/", JobOption.OUTPUT, "s3://pictures/prefix")))
                .matches(JobReport::isComplete)
                .extracting("tally.records")
                .isEqualTo((long) PICTURES);
        assertThat(outputs("prefix")).isEqualTo(EXPECTED);

        s3.put(
                BUCKET,
                "manifest",
                IntStream.range(0, PICTURES)
                        .mapToObj("\"%04d.png\""::formatted)
                        .collect(Collectors.joining(",", "[{\"prefix\": \"s3://pictures/mnist/\"},", "]")));
        assertThat(run(JobFlags.of(
                        "--input s3://pictures/manifest --data-type ManifestFile --output s3://pictures/listed")))
                .matches(JobReport::isComplete);
        assertThat(outputs("listed")).isEqualTo(EXPECTED);

        var shares = JobFlags.of("--input s3://pictures/mnist/ --output s3://pictures/shared --instance-count 2");
        long all = 0;
        for (var index : new String[] {"0", "1"}) {
            var share = new EnumMap<>(shares);
            share.put(JobOption.INSTANCE_INDEX, index);
            var report = run(share);
            assertThat(report).matches(JobReport::isComplete);
            assertThat(report.tally().objects())
                    .as("neither has nearly all")
                    .isBetween(PICTURES / 3L, PICTURES * 2L / 3);
            all += report.tally().objects();
        }
        assertThat(all).isEqualTo(PICTURES);
        assertThat(outputs("shared")).isEqualTo(EXPECTED);
    }

    @Test
    @Tag("BAT-15")
    void sixtyFourPhotographsAreUnderWayAtOnce() throws Exception {
        var photograph = jpeg();
        for (int i = 0; i < 100; i++) {
            s3.put(BUCKET, "images/%03d.jpg".formatted(i), photograph);
        }
        var report =
                run(JobFlags.of("--input s3://pictures/images/ --output s3://pictures/labels --content-type image/jpeg "
                        + "--max-concurrent-transforms 64 --max-payload-in-mb 1"));
        assertThat(report)
                .matches(JobReport::isComplete)
                .extracting("tally.succeeded")
                .isEqualTo(100L);
        assertThat(outputs("labels"))
                .hasSize(100)
                .allSatisfy((_, answer) -> assertThat(answer).matches("\\{\"predictions\":\\d}"));
    }

    /// Of the size that the photographs of the Open Images sample have, its longer side 1,024.
    private static byte[] jpeg() throws IOException {
        var image = new BufferedImage(1024, 683, BufferedImage.TYPE_INT_RGB);
        for (int y = 0; y < image.getHeight(); y++) {
            for (int x = 0; x < image.getWidth(); x++) {
                image.setRGB(x, y, x * y + (x ^ y));
            }
        }
        var bytes = new ByteArrayOutputStream();
        ImageIO.write(image, "jpeg", bytes);
        return bytes.toByteArray();
    }

    private static JobReport run(Map<JobOption, String> more) throws Exception {
        var options = JobFlags.of(
                "--content-type application/x-image --accept application/jsonlines --max-concurrent-transforms 4");
        options.putAll(more);
        try (var storage = Impatient.storage(s3.endpoint())) {
            return TestJob.run(TransformJob.read(storage, options, Map.of(), Map.of()), container.uri("/"));
        }
    }

    private static Map<String, String> outputs(String prefix) {
        return s3.texts(BUCKET, prefix + "/");
    }
}
