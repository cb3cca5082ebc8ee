package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.SpellingHandler;
import dev.berth.testing.TestServer;
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
        var job = new TestJob(directory, "--content-type text/plain --accept application/jsonlines");
        job.write("good.txt", "abc");
        job.write("bad.txt", "ab?");
        try (var server = TestServer.with(new SpellingHandler()).start()) {
            assertThat(job.run(server.uri("/")).tally().failed()).isOne();
            assertThat(job.outputs()).isEqualTo(Map.of("good.txt.out", "A\nB\nC\n"));
        }
    }
}
