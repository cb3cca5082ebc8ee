package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.storage.Storage;
import dev.berth.testing.SpellingHandler;
import dev.berth.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Jobs on a server that streams its answers, because nobody has told it that it runs a job.
class StreamedJobTest {

    @TempDir
    private Path directory;

    @Test
    void streamedAnswersAreCollectedAndBrokenOnesFail() throws Exception {
        Files.createDirectory(directory.resolve("in"));
        Files.writeString(directory.resolve("in/good.txt"), "abc");
        Files.writeString(directory.resolve("in/bad.txt"), "ab?");
        var options = JobFlags.of(
                "--input %s --output %s --content-type text/plain --accept application/jsonlines",
                directory.resolve("in"), directory.resolve("out"));
        try (var server = TestServer.with(new SpellingHandler()).start();
                var storage = new Storage()) {
            var job = TransformJob.read(storage, options, Map.of(), Map.of());
            var report = new JobRunner(job, new Unwatched()).run(server.uri("/"));
            assertThat(report.tally().failed()).isOne();
            assertThat(Files.readString(directory.resolve("out/good.txt.out"))).isEqualTo("A\nB\nC\n");
            assertThat(directory.resolve("out/bad.txt.out")).doesNotExist();
        }
    }
}
