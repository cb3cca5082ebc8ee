package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.CodeArtifact;
import dev.berth.testing.CodeBlock;
import dev.berth.testing.RawSocket;
import dev.berth.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Does what `docs/sessions-and-sockets.md` says: serves its program, runs its commands in one
/// shell, and compares what they print with what it shows.
@Tag("slow")
class SessionsDocTest {

    private static final String PAGE = "docs/sessions-and-sockets.md";

    /// Commands, and what they print if anything is shown behind them.
    private static final Pattern COMMANDS =
            Pattern.compile("```sh\\n([^`]*curl .*?)```\\n(?:\\n```\\n(.*?)```)?", Pattern.DOTALL);

    private static final Pattern SOCKET =
            Pattern.compile("wscat -c ws://localhost:8080(\\S+) -x (\\S+)\\n```\\n\\n```\\n(.*?)```", Pattern.DOTALL);

    @TempDir
    private Path directory;

    @Test
    @Tag("SES-01")
    @Tag("SES-03")
    @Tag("SES-04")
    @Tag("SES-05")
    @Tag("BIDI-01")
    void itsProgramAnswersAsItShows() throws Exception {
        var doc = Files.readString(Path.of(PAGE));
        new CodeArtifact(directory)
                .file("code/Inference.java", CodeBlock.texts("java", PAGE).getFirst());
        var commands = COMMANDS.matcher(doc).results().toList();
        assertThat(commands).hasSize(3);
        var shown = commands.stream()
                .map(found -> found.group(2) == null ? "" : found.group(2))
                .collect(Collectors.joining());
        try (var server = TestServer.artifact(directory).start()) {
            var script = commands.stream()
                    .map(found -> found.group(1))
                    .collect(Collectors.joining())
                    .replace("localhost:8080", "127.0.0.1:" + server.port());
            assertThat(CodeBlock.run("set -eu\n" + script)).isEqualTo(shown);

            var wscat = first(SOCKET, doc);
            try (var socket = RawSocket.open(server.port(), wscat.group(1))) {
                assertThat(socket.text(wscat.group(2)).read().text()).isEqualTo(wscat.group(3));
            }
        }
    }

    private static MatchResult first(Pattern pattern, String doc) {
        return pattern.matcher(doc).results().findFirst().orElseThrow();
    }
}
