package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.CodeArtifact;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Sessions of one model among several.
class ManyModelsTalkTest {

    private static final String ID = "X-Amzn-SageMaker-Session-Id";
    private static final String TEXT = "text/plain";
    private static final String OPEN = "{\"requestType\":\"NEW_SESSION\"}";

    @TempDir
    private Path directory;

    @Test
    @Tag("SES-03")
    @Tag("SES-05")
    void aSessionBelongsToItsModelAndEndsWithIt() throws Exception {
        try (var server = TestServer.ofModels().start()) {
            load(server, "one");
            load(server, "two");
            var id = server.ask("one", OPEN, ID, "NEW_SESSION")
                    .headers()
                    .firstValue(ID)
                    .orElseThrow()
                    .split(";")[0];
            assertThat(server.ask("one", "a", ID, id, "Content-Type", TEXT).body())
                    .isEqualTo("A");
            assertThat(server.ask("one", "b", ID, id, "Content-Type", TEXT).body())
                    .isEqualTo("A,B");
            assertStatus(server.ask("two", "c", ID, id, "Content-Type", TEXT), 400);
            assertThat(server.get("/metrics").body())
                    .contains("berth_sessions{model=\"one\"} 1.0", "berth_sessions{model=\"two\"} 0.0");

            assertThat(server.unload("one").statusCode()).isEqualTo(200);
            load(server, "one");
            assertThat(server.get("/metrics").body()).contains("berth_sessions{model=\"one\"} 0.0");
            assertStatus(server.ask("one", "d", ID, id, "Content-Type", TEXT), 400);
        }
    }

    private void load(TestServer server, String name) throws IOException, InterruptedException {
        var source = """
        public class Inference extends RememberingHandler {
          public Inference() { super(java.time.Duration.ofMinutes(20)); }
        }
        """;
        var artifact = new CodeArtifact(directory.resolve(name))
                .source("Inference.java", source)
                .directory();
        assertThat(server.load(name, artifact).statusCode()).isEqualTo(200);
    }
}
