package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// How several instances deal out objects.
class SharesTest {

    @TempDir
    private Path directory;

    private TestJob job;

    @BeforeEach
    void prepare() {
        job = new TestJob(directory, "--shard-by size");
    }

    @Test
    void objectsOfOneSizeAreDealtOutEvenly() throws Exception {
        for (int i = 1; i <= 10; i++) {
            job.write("input%d.csv".formatted(i), "x".repeat(100));
        }
        assertThat(shares(4)).extracting(Shares.Share::objects).containsExactlyInAnyOrder(3L, 3L, 2L, 2L);
        assertThat(shares(2)).extracting(Shares.Share::objects).containsExactly(5L, 5L);
    }

    @Test
    void aLargeObjectIsWorthManySmallOnes() throws Exception {
        job.write("large", "x".repeat(1 << 20));
        for (int i = 0; i < 20; i++) {
            job.write("small-%02d".formatted(i), "x".repeat(50_000));
        }
        assertThat(shares(2)).extracting(Shares.Share::objects).containsExactly(1L, 20L);
        assertThat(shares(2)).extracting(Shares.Share::bytes).containsExactly(1L << 20, 1_000_000L);
    }

    @Test
    void anyNumberOfInstancesWritesTheSameBytesAsOne() throws Exception {
        for (int i = 0; i < 40; i++) {
            job.write("%d.txt".formatted(i), "word %d\n".formatted(i).repeat(i));
        }
        job.set("--content-type text/plain --accept text/plain --split-type Line --assemble-with Line");
        Map<String, String> ofOne = Map.of();
        try (var server = TestServer.with(new TextHandler()).start("SAGEMAKER_BATCH=true")) {
            for (var by : List.of("size", "key")) {
                job.set("--shard-by %s", by);
                for (int instances : List.of(1, 2, 3, 7)) {
                    var out = directory.resolve("out-%s-%d".formatted(by, instances));
                    job.set("--output %s", out.toString());
                    for (int i = 0; i < instances; i++) {
                        var report = TestJob.run(job(instances, i), server.uri("/"));
                        assertThat(report).matches(JobReport::isComplete);
                        assertThat(report.tally().skipped()).as("nobody else's").isZero();
                    }
                    ofOne = ofOne.isEmpty() ? job.outputs() : ofOne;
                    assertThat(job.outputs()).hasSize(40).isEqualTo(ofOne);
                }
            }
        }
    }

    @Test
    void anObjectThatIsAddedBetweenTwoInstancesIsNoticedAndNothingIsLost() throws Exception {
        for (int i = 0; i < 20; i++) {
            job.write("%02d".formatted(i), "x".repeat(100 + i));
        }
        try (var server = TestServer.with(new TextHandler()).start("SAGEMAKER_BATCH=true")) {
            assertThat(run(0, server)).matches(JobReport::isComplete);
            job.write("added", "x".repeat(2000));
            for (int i = 0; i < 2; i++) {
                assertThat(run(1, server))
                        .extracting(JobReport::status, JobReport::problem)
                        .containsExactly(
                                JobStatus.FAILED,
                                "the input has changed: found other objects than instance 0, so some may be in nobody's part."
                                        + " Run instance 0 again");
            }
            assertThat(run(0, server)).matches(JobReport::isComplete);
            assertThat(job.outputs()).as("and no notes").hasSize(21);
            assertThat(run(1, server)).matches(JobReport::isComplete);
        }
    }

    private JobReport run(int index, TestServer server) {
        return TestJob.run(job(2, index), server.uri("/"));
    }

    private List<Shares.Share> shares(int instances) {
        return Shares.of(job(instances, 0), () -> true).all();
    }

    private TransformJob job(int instances, int index) {
        return job.set("--instance-count %s --instance-index %s", instances, index)
                .read();
    }
}
