package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.ServeProcess;
import dev.berth.testing.TestServer;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// `./serve` whose stdout is a pipe that nobody reads, as when a log shipper hangs.
@Tag("packaged")
@Timeout(600)
class StalledLogTest {

    private static final File ERRORS = new File("target", "stalled-log.log");
    private static final Pattern LOST = Pattern.compile("(\\d+) events of the log were lost");

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @Tag("OBS-01")
    @Tag("RUN-06")
    void everyRequestIsAnsweredAndTheLogSaysWhatItLostOrTheEndComesInTime(boolean isReadAtLast) throws Exception {
        int port = ServeProcess.freePort();
        var process = serve(port);
        try {
            await().ignoreExceptions().until(() -> get(port, "/ping") == 200);
            long before = descriptors(process);
            // The metrics take longer than a hundred such requests.
            while (dropped(port) == 0) {
                for (int i = 0; i < 100; i++) {
                    assertThat(invoke(port)).isEqualTo(400);
                }
            }
            assertThat(descriptors(process)).isLessThan(before + 100);
            assertThat(get(port, "/ping")).isEqualTo(200);
            if (isReadAtLast) {
                var lines = new ArrayList<String>();
                assertThat(readUntilLost(process.inputReader(), lines)).isPositive();
                assertThat(lines).allMatch(line -> line.matches("\\d{4}-.*Z (INFO |WARN ) .*"));
            } else {
                process.destroy();
                assertThat(process.waitFor()).isZero();
            }
        } finally {
            process.destroyForcibly().onExit().join();
        }
    }

    private static Process serve(int port) throws IOException {
        var command = List.of(
                Path.of("serve").toAbsolutePath().toString(),
                "--port",
                String.valueOf(port),
                "--model-dir",
                TestServer.SAMPLE_ARTIFACT.toString());
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.appendTo(ERRORS))
                .start();
    }

    private static long readUntilLost(BufferedReader reader, List<String> lines) throws Exception {
        while (true) {
            lines.add(reader.readLine());
            var lost = LOST.matcher(lines.getLast());
            if (lost.find()) {
                return Long.parseLong(lost.group(1));
            }
        }
    }

    private int get(int port, String path) throws Exception {
        return client.send(HttpRequest.newBuilder(uri(port, path)).build(), BodyHandlers.discarding())
                .statusCode();
    }

    /// Its line has two ids of 64 characters, in quotes.
    private int invoke(int port) throws Exception {
        var request = HttpRequest.newBuilder(uri(port, "/invocations"))
                .header("x-amzn-RequestId", "one ".repeat(15) + "four")
                .header("X-Amzn-SageMaker-Inference-Id", "two ".repeat(15) + "four")
                .POST(BodyPublishers.ofString("no JSON"))
                .build();
        return client.send(request, BodyHandlers.discarding()).statusCode();
    }

    private long dropped(int port) throws Exception {
        var metrics = client.send(HttpRequest.newBuilder(uri(port, "/metrics")).build(), BodyHandlers.ofString())
                .body();
        return metrics.lines()
                .filter(line -> line.startsWith("berth_log_lines_dropped_total "))
                .mapToLong(line -> (long) Double.parseDouble(line.split(" ")[1]))
                .findFirst()
                .orElseThrow();
    }

    private static long descriptors(Process process) throws Exception {
        try (Stream<Path> open = Files.list(Path.of("/proc", String.valueOf(process.pid()), "fd"))) {
            return open.count();
        }
    }

    private static URI uri(int port, String path) {
        return URI.create("http://127.0.0.1:%d%s".formatted(port, path));
    }
}
