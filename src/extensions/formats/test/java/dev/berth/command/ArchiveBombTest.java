package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.Main;
import dev.berth.testing.ServeProcess;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Archives that would fill a heap of 400 MB, the one of a container of 1 GB.
@Tag("slow")
class ArchiveBombTest {

    @AutoClose
    private ServeProcess server;

    private void start(String model) throws IOException {
        var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var command = List.of(java, "-Xmx400m", "-cp", System.getProperty("java.class.path"), Main.class.getName());
        var environment = Map.of(
                "BERTH_MODEL_DIR", model, "INSTANCE_TYPE", "cpu", "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS", "600");
        server = ServeProcess.start(environment, command).awaitReady();
    }

    @Test
    void archivesThatUnpackToAThousandTimesTheirSizeAreRefused() throws Exception {
        var directory = Files.createTempDirectory("berth-tensor");
        Files.copy(Path.of("examples/mnist/model.pt"), directory.resolve("model.pt"));
        start(directory.toString());
        var archive = new ByteArrayOutputStream();
        try (var zip = new ZipOutputStream(archive)) {
            zip.putNextEntry(new ZipEntry("x.npy"));
            zip.write(new byte[250 << 20]);
        }
        var body = BodyPublishers.ofByteArray(archive.toByteArray());
        var all = Stream.generate(() -> server.invokeAsync(body, "Content-Type", "application/x-npz"))
                .limit(30)
                .toList();
        assertThat(server.get("/ping").statusCode()).isEqualTo(200);
        for (var one : all) {
            assertThat(one.get().statusCode()).as(one.get().body()).isIn(400, 413, 503);
        }
        assertThat(server.get("/ping").statusCode()).isEqualTo(200);
    }
}
