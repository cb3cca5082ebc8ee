package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.ServeProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// `./serve` of a build: while it serves, the JVM's cache of classes is made for the next start.
@Tag("packaged")
class ServeKeepsClassesTest {

    private static final Path CACHE = Path.of("target/berth.aot");

    @Test
    void theNextStartFindsItsClassesLoaded() throws Exception {
        Files.deleteIfExists(CACHE);
        try (var _ = ServeProcess.serve(Map.of()).awaitReady()) {
            await().until(() -> Files.exists(CACHE));
        }

        try (var next =
                ServeProcess.serve(Map.of("JAVA_OPTS", "-Xlog:class+load")).awaitReady()) {
            assertThat(next.out()).contains("dev.berth.Main source: shared objects file");
        }
    }
}
