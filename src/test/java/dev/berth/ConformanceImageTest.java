package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.BerthImage;
import dev.berth.testing.ServeProcess;
import dev.berth.testing.SmallServer;
import dev.berth.testing.SmallServer.Manner;
import dev.berth.testing.SmallServer.Reply;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The image of the conformance kit, and the jar in it.
@Tag("packaged")
class ConformanceImageTest {

    private static final String IMAGE = "berth-test-conformance";

    @TempDir
    private Path directory;

    @BeforeAll
    static void build() throws Exception {
        BerthImage.needsDocker();
        Files.createDirectories(Path.of("target"));
        BerthImage.run(
                List.of("docker", "build", "--target", "conformance", "-t", IMAGE, "."),
                Path.of("target", "docker-build-conformance.log"));
    }

    @Test
    void itAsksAServerAndWritesReports() throws Exception {
        Files.writeString(directory.resolve("body.json"), "{}");
        try (var server = new SmallServer(Manner.KEEPS_CONNECTIONS, asked -> Reply.json(200, "{\"score\": 1}"))) {
            var run = docker(List.of(
                    "run",
                    "--rm",
                    "--network",
                    "host",
                    "-v",
                    directory + ":/work",
                    IMAGE,
                    server.url(),
                    "--body",
                    "body.json",
                    "--only",
                    "PING-01,INV-01,INV-03",
                    "--junit",
                    "report.xml"));
            assertThat(run).contains("PING-01  P0  holds", "INV-01   P0  holds", "INV-03   A   MISSED");
        }
        assertThat(directory.resolve("report.xml")).content().contains("tests=\"3\" failures=\"1\"");
    }

    @Test
    void itIsSmall() throws Exception {
        var size = docker(List.of("image", "inspect", "--format", "{{.Size}}", IMAGE));
        assertThat(Long.parseLong(size.strip())).isLessThan(80_000_000);

        var container = docker(List.of("create", IMAGE)).strip();
        try {
            docker(List.of("cp", container + ":/opt/berth-conformance.jar", directory.toString()));
            assertThat(Files.size(directory.resolve("berth-conformance.jar"))).isLessThan(5_000_000);
            var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
            var jar = directory.resolve("berth-conformance.jar").toString();
            try (var list = ServeProcess.start(Map.of(), List.of(java, "-jar", jar, "--list"))) {
                assertThat(list.exitCode()).isZero();
                assertThat(list.out()).contains("PING-01  `GET /ping`, model ready");
            }
        } finally {
            docker(List.of("rm", container));
        }
    }

    private static String docker(List<String> arguments) throws Exception {
        var command = new ArrayList<>(List.of("docker"));
        command.addAll(arguments);
        try (var process = ServeProcess.start(Map.of(), command)) {
            int code = process.exitCode();
            // The kit ends with 1 where a row was missed.
            assertThat(code).as(process.err()).isBetween(0, 1);
            return process.out();
        }
    }
}
