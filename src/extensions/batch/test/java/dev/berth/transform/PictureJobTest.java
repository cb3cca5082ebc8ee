package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.S3Server;
import dev.berth.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A batch of pictures in the shape of the platform's own samples, from S3 to S3, with the digits' model.
class PictureJobTest {

    private static final int PICTURES = 300;

    @TempDir
    private Path directory;

    @Test
    @Tag("slow")
    @Tag("BAT-12")
    @Tag("BAT-15")
    void hundredsOfPicturesAreReadBySixtyFourRequestsAtOnce() throws Exception {
        try (var container = TestServer.artifact(Path.of("examples/mnist")).start("SAGEMAKER_BATCH=true");
                var s3 = S3Server.start().createBucket("pictures");
                var digits = Files.list(Path.of("examples/mnist/digits"));
                var storage = Impatient.storage(s3.endpoint())) {
            var all = digits.sorted().toList();
            Map<String, String> expected = new TreeMap<>();
            for (int i = 0; i < PICTURES; i++) {
                var digit = all.get(i % all.size());
                s3.put("pictures", "mnist/%04d.png".formatted(i), Files.readAllBytes(digit));
                expected.put(
                        "%04d.png.out".formatted(i),
                        "{\"predictions\":%s}"
                                .formatted(digit.getFileName().toString().charAt(0)));
            }
            var job = new TestJob(
                    directory,
                    "--input s3://pictures/mnist/ --output s3://pictures/out --content-type application/x-image"
                            + " --accept application/jsonlines --max-concurrent-transforms 64 --max-payload-in-mb 1");
            assertThat(TestJob.run(job.read(storage), container.uri("/")))
                    .matches(JobReport::isComplete)
                    .extracting("tally.records")
                    .isEqualTo((long) PICTURES);
            assertThat(s3.texts("pictures", "out/")).isEqualTo(expected);
        }
    }
}
