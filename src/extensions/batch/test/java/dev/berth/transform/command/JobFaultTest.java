package dev.berth.transform.command;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.berth.Main;
import dev.berth.testing.Gate;
import dev.berth.testing.S3Server;
import dev.berth.testing.ServeProcess;
import dev.berth.testing.TestThreads;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `transform` in a process of its own, with a small heap, a full disk, or a terminal. Its
/// container answers each request with so many letters.
@Tag("slow")
class JobFaultTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final AtomicInteger asked = new AtomicInteger();
    private final ExecutorService threads = new TestThreads();
    private HttpServer container;
    private volatile int answer;
    private volatile boolean isChunked;

    @TempDir
    private Path directory;

    @BeforeEach
    void start() throws IOException {
        Files.createDirectory(directory.resolve("in"));
        container = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 200);
        container.setExecutor(threads);
        container.createContext("/ping", request -> answer(request, ""));
        container.createContext("/invocations", request -> {
            asked.incrementAndGet();
            answer(request, "{\"image\":\"%s\"}".formatted("A".repeat(answer)));
        });
        container.start();
    }

    @AfterEach
    void stop() {
        container.stop(0);
        threads.close();
    }

    @Test
    void answersThatAllTogetherAreLargerThanTheHeapAreWritten() throws Exception {
        answer = 1_500_000;
        Files.writeString(
                directory.resolve("in/day.jsonl"),
                "{\"recordId\": \"A\", \"modelInput\": {\"prompt\": \"a star\"}}\n".repeat(100));
        for (var chunked : List.of(false, true)) {
            isChunked = chunked;
            try (var job =
                    transform("128m", "--format", "bedrock", "--max-concurrent-transforms", "64", "--overwrite")) {
                assertThat(job.exitCode()).as(job.err()).isZero();
            }
            try (var lines = Files.lines(directory.resolve("out/day.jsonl.out"))) {
                assertThat(lines).hasSize(100).allMatch(line -> line.length() > answer && line.endsWith("A\"}}"));
            }
        }
    }

    @Test
    void payloadsThatAllTogetherAreLargerThanTheHeapAreSent() throws Exception {
        Files.writeString(directory.resolve("in/a"), ("x".repeat((2 << 20) - 1) + "\n").repeat(60));
        try (var job = transform(
                "64m", "--split-type", "Line", "--max-payload-in-mb", "2", "--max-concurrent-transforms", "64")) {
            assertThat(job.exitCode()).as(job.err()).isZero();
        }
        assertThat(asked).hasValue(60);
        assertThat(directory.resolve("out/a.out")).content().hasLineCount(60);
    }

    /// Both instances have ended, and no output is joined yet.
    @Test
    void outputsThatAllTogetherAreLargerThanTheHeapAreJoined() throws Exception {
        answer = 1_500_000;
        int objects = 12;
        for (int i = 0; i < objects; i++) {
            Files.writeString(directory.resolve("in/" + i), ("x".repeat((1 << 15) - 1) + "\n").repeat(4));
        }
        try (var s3 = S3Server.start().createBucket("bucket")) {
            var credentials = S3Server.credentials().stream()
                    .map(each -> "-D%s=%s".formatted(each.name(), each.value()))
                    .toList();
            for (var run : List.of("0 b 512m", "1 a 512m", "0 a 64m")) {
                var words = run.split(" ");
                if (words[2].equals("64m")) {
                    for (var key : s3.keys("bucket")) {
                        s3.put("bucket", key.replaceFirst("^b/", "a/"), s3.bytes("bucket", key));
                    }
                }
                var command = command(words[2], "--split-type", "Line", "--batch-strategy", "SingleRecord");
                command.addAll(List.of("--split-objects", "--instance-count", "2", "--instance-index", words[0]));
                command.addAll(List.of("--endpoint-url", s3.endpoint().toString()));
                command.set(command.indexOf("--output") + 1, "s3://bucket/" + words[1]);
                command.addAll(1, credentials);
                try (var job = ServeProcess.start(Map.of(), command)) {
                    assertThat(job.exitCode()).as(job.err()).isZero();
                }
            }
            for (int i = 0; i < objects; i++) {
                assertThat(s3.bytes("bucket", "a/%d.out".formatted(i))).hasSizeGreaterThan(4 * answer);
            }
        }
        assertThat(asked).hasValue(4 * objects);
    }

    @Test
    void anAnswerThatTheHeapHasNoRoomForFailsItsObject() throws Exception {
        answer = 40_000_000;
        Files.writeString(directory.resolve("in/a"), "a");
        try (var job = transform("64m")) {
            assertThat(job.exitCode()).isEqualTo(1);
            assertThat(job.err())
                    .contains("failed: a: the answer: found more than 16 MB, expected less with a heap of 64 MB");
        }
    }

    @Test
    void aFullHeapEndsTheJobWithASentence() throws Exception {
        for (var key : List.of("a", "b")) {
            Files.write(directory.resolve("in").resolve(key), new byte[70 << 20]);
        }
        try (var job = transform("64m", "--max-payload-in-mb", "100")) {
            assertThat(job.exitCode()).isEqualTo(1);
            assertThat(job.err())
                    .contains("the heap of 64 MB is full; JAVA_OPTS=-Xmx128m has room for more")
                    .doesNotContain("OutOfMemoryError");
        }
        assertThat(asked).hasValue(0);
    }

    @Test
    void aFullDiskEndsTheJobAndNotEachObject() throws Exception {
        var unshare = new ProcessBuilder("unshare", "-rm", "true").start();
        assumeTrue(unshare.waitFor() == 0, "no file system of one's own here");
        answer = 100_000;
        for (int i = 0; i < 500; i++) {
            Files.writeString(directory.resolve("in/%03d".formatted(i)), "a");
        }
        var out = Files.createDirectory(directory.resolve("out"));
        var command = new ArrayList<>(List.of(
                "unshare", "-rm", "sh", "-c", "mount -t tmpfs -o size=1m none \"$0\" && exec \"$@\"", out.toString()));
        command.addAll(command("128m"));
        try (var job = ServeProcess.start(Map.of(), command)) {
            assertThat(job.exitCode()).isEqualTo(1);
            assertThat(job.err()).contains("can't be written").doesNotContain("failed: ");
        }
        assertThat(asked).as("those under way").hasValueLessThan(100);
        assertThat(report().path("problem").asText()).startsWith(out.toString());
        assertThat(report().path("succeeded").asInt()).isBetween(5, 10);
        assertThat(report().path("failed").asInt()).isZero();
    }

    @Test
    void theSummaryStaysBelowTheBar() throws Exception {
        Files.writeString(directory.resolve("in/a"), "a");
        var command = List.of("script", "-qec", String.join(" ", command("128m")), "/dev/null");
        try (var job = ServeProcess.start(Map.of("TERM", "xterm"), command)) {
            assertThat(job.exitCode()).as(job.out()).isZero();
            assertThat(job.out()).contains(" kB ").matches("(?s).*records/s +[0-9.]+\\s*");
        }
    }

    @Test
    void ctrlCInATerminalStopsTheJobInOrder() throws Exception {
        Files.writeString(directory.resolve("in/a"), "a");
        Files.writeString(directory.resolve("in/b"), "b");
        var gate = new Gate(1);
        container.removeContext("/invocations");
        container.createContext("/invocations", request -> {
            gate.passWhateverInterrupts();
            answer(request, "{}");
        });
        // What runs in the background, as a build may, ignores Ctrl-C.
        var withCtrlC = "env --default-signal=INT " + String.join(" ", command("128m"));
        var command = List.of("script", "-qec", withCtrlC, "/dev/null");
        try (var job = ServeProcess.start(Map.of("TERM", "xterm"), command)) {
            gate.awaitArrival();
            job.process().getOutputStream().write(3);
            job.process().getOutputStream().flush();
            await().untilAsserted(() -> assertThat(job.out()).contains("Stopping"));
            gate.open();
            assertThat(job.exitCode()).as(job.out()).isEqualTo(130);
            assertThat(job.out()).containsPattern("status +Stopped").containsPattern("succeeded +1");
        }
        assertThat(report().path("status").asText()).isEqualTo("Stopped");
    }

    @Test
    void whereThereIsNoTerminalLinesSayHowFarItIs() throws Exception {
        Files.writeString(directory.resolve("in/a"), "a");
        var gate = new Gate(1);
        container.removeContext("/invocations");
        container.createContext("/invocations", request -> {
            gate.passWhateverInterrupts();
            answer(request, "{}");
        });
        try (var job = transform("128m")) {
            await().atMost(Duration.ofMinutes(1))
                    .untilAsserted(() -> assertThat(job.out())
                            .containsPattern(
                                    "(?m)^transform .* kB .* 0 of 1 objects, 0 records, 0[.]0 records/s, 0 failed$"));
            gate.open();
            assertThat(job.exitCode()).isZero();
        }
    }

    private ServeProcess transform(String heap, String... more) throws IOException {
        return ServeProcess.start(Map.of(), command(heap, more));
    }

    private List<String> command(String heap, String... more) {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + heap,
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName(),
                "transform",
                "--endpoint",
                "http://127.0.0.1:" + container.getAddress().getPort(),
                "--input",
                directory.resolve("in").toString(),
                "--output",
                directory.resolve("out").toString(),
                "--report",
                directory.resolve("report.json").toString()));
        command.addAll(List.of(more));
        return command;
    }

    private JsonNode report() throws IOException {
        return JSON.readTree(directory.resolve("report.json").toFile());
    }

    private void answer(HttpExchange request, String body) throws IOException {
        request.getRequestBody().readAllBytes();
        var bytes = body.getBytes(UTF_8);
        request.getResponseHeaders().add("Content-Type", "application/json");
        request.sendResponseHeaders(200, bytes.length == 0 ? -1 : isChunked ? 0 : bytes.length);
        request.getResponseBody().write(bytes);
        request.close();
    }
}
