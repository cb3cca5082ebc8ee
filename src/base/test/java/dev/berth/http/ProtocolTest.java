package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.EchoProtocol;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// A protocol that nothing names but its line in `META-INF/services`.
class ProtocolTest {

    @AutoClose
    private static TestServer server;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.with(new TextHandler()).start("BERTH_MODEL_NAME=m");
    }

    @Test
    void itIsServed() throws Exception {
        assertThat(server.post("/echo/m", "hello").body()).isEqualTo("{\"m\": \"HELLO\"}");
    }

    @Test
    void itHasWhatAllRoutesHave() throws Exception {
        var get = server.get("/echo/m");
        assertThat(get.statusCode()).isEqualTo(405);
        assertThat(get.headers().firstValue("Allow")).contains("POST");
        assertThat(server.post("/echo/x", "hello").statusCode()).isEqualTo(404);
        assertThat(Routes.has("/echo/any")).isTrue();
    }

    @Test
    void thePageShowsIt() throws Exception {
        var file = Path.of("src/testing/java", EchoProtocol.class.getName().replace('.', '/') + ".java");
        assertThat(Files.readString(Path.of("docs", "internals", "architecture.md")))
                .contains("```java\n" + Files.readString(file) + "```");
    }
}
