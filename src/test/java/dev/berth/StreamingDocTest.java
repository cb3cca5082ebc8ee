package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.CodeArtifact;
import dev.berth.testing.CodeBlock;
import dev.berth.testing.TestServer;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Does what `docs/streaming.md` says: serves its program, sends its requests and compares the
/// answers with those that it shows.
class StreamingDocTest {

    private static final Pattern CURL = Pattern.compile(
            "curl (?:-N )?-H 'Accept: ([^']+)' -H 'Content-Type: ([^']+)' -d (\\S+) localhost:8080/invocations\\n");

    @TempDir
    private Path directory;

    @Test
    @Tag("STR-01")
    @Tag("STR-07")
    void itsProgramAnswersAsItShows() throws Exception {
        var blocks = CodeBlock.of("docs/streaming.md");
        var artifact = directory.resolve("my-stream");
        new CodeArtifact(artifact).file("code/Inference.java", blocks.getFirst().text());
        int asked = 0;
        try (var server = TestServer.artifact(artifact).start()) {
            for (int i = 0; i < blocks.size(); i++) {
                var command = CURL.matcher(blocks.get(i).text());
                if (command.matches()) {
                    var answer = server.invoke(
                            command.group(3), "Accept", command.group(1), "Content-Type", command.group(2));
                    assertThat(answer.body().stripTrailing())
                            .isEqualTo(blocks.get(i + 1).text().stripTrailing());
                    asked++;
                }
            }
            assertThat(server.invoke("0", "Content-Type", "text/plain").body())
                    .contains("number: found 0, expected at least 1");
            assertThat(server.invoke("abc", "Content-Type", "text/plain").body())
                    .contains("number: found another text, expected a whole number on each line", "400");
        }
        assertThat(asked).isEqualTo(3);
    }
}
