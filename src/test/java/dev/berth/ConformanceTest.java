package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import dev.berth.testing.FaultyProxy;
import dev.berth.testing.ServeProcess;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `./conformance` asks Berth, and a server that breaks the contract.
@Tag("packaged")
class ConformanceTest {

    private static final String LINES = """
      {"question": "Who came?", "context": "Bob came."}
      {"question": "Where was Marie Curie born?", "context": "Marie Curie was born in Warsaw."}
      """;

    @TempDir
    private Path directory;

    @Test
    void theSampleHoldsEveryRow() throws Exception {
        var lines = Files.writeString(directory.resolve("lines.jsonl"), LINES).toString();
        try (var server = ServeProcess.serve(Map.of("INSTANCE_TYPE", "cpu")).awaitReady();
                var kit = conformance(
                        server.uri("/").toString(), "--body", "model-artifact/sample.json", "--lines", lines)) {
            assertThat(kit.exitCode()).as(kit.out() + kit.err()).isZero();
            assertThat(kit.out())
                    .contains("PING-01  P0  holds", "INV-07   P   holds", "BAT-07   P   holds", "BIDI-03  P   holds")
                    .contains("SES-01   P   not asked  it has no sessions: 400")
                    .contains("missed: 0");
        }
    }

    @Test
    void manyModelsHoldEveryRow() throws Exception {
        try (var server = ServeProcess.serve(Map.of("INSTANCE_TYPE", "cpu", "SAGEMAKER_MULTI_MODEL", "true"))
                        .awaitReady();
                var kit = conformance(
                        server.uri("/").toString(),
                        "--body",
                        "model-artifact/sample.json",
                        "--model-url",
                        Path.of("model-artifact").toAbsolutePath().toString(),
                        "--except",
                        "PING-06")) {
            assertThat(kit.exitCode()).as(kit.out() + kit.err()).isZero();
            assertThat(kit.out())
                    .contains("MME-01   P0  holds", "MME-16   R   holds")
                    .contains("missed: 0");
        }
    }

    @Test
    void aServerThatBreaksTheContractIsToldWhere() throws Exception {
        var broken = server(exchange -> answer(
                exchange,
                exchange.getRequestURI().getPath().equals("/ping") ? 200 : 400,
                "Traceback (most recent call last): no"));
        try (var kit = conformance(
                url(broken), "--body", "model-artifact/sample.json", "--only", "PING-01,INV-01,ERR-01,INV-03")) {
            assertThat(kit.exitCode()).isEqualTo(1);
            assertThat(kit.out())
                    .contains("PING-01  P0  holds")
                    .contains("INV-01   P0  MISSED     400 Traceback")
                    .contains("expected: 2xx, body, `Content-Type` (DG:")
                    .contains("INV-03   A   MISSED     400")
                    .contains("ERR-01   P   MISSED     400 with a Python traceback: 400 Traceback")
                    .contains("holds: 1, missed: 3, not asked: 0");
        } finally {
            broken.stop(0);
        }
    }

    /// As a small FastAPI app does it, whose route takes any JSON.
    @Test
    void whatAServerDoesNotOfferIsNotAsked() throws Exception {
        var small = server(exchange -> {
            var path = exchange.getRequestURI().getPath();
            answer(exchange, List.of("/ping", "/invocations").contains(path) ? 200 : 404, "{\"answer\": 1}");
        });
        try (var kit = conformance(url(small), "--only", "SES,OBS-03")) {
            assertThat(kit.exitCode()).isEqualTo(1);
            assertThat(kit.out())
                    .contains("SES-01   P   not asked  it has no sessions: 200 without X-Amzn-SageMaker-Session-Id")
                    .contains("SES-06   A   MISSED     the header is ignored: 200 {\"answer\": 1}")
                    .contains("OBS-03   P   not asked  it has no metrics: 404")
                    .contains("holds: 0, missed: 1, not asked: 6");
        } finally {
            small.stop(0);
        }
    }

    @Test
    void aConnectionThatClosesBehindAnErrorIsNoMiss() throws Exception {
        var server = server(exchange -> {
            boolean isPing = exchange.getRequestURI().getPath().equals("/ping");
            var body = exchange.getRequestBody().readAllBytes();
            boolean isSample = Arrays.equals(body, Files.readAllBytes(Path.of("model-artifact/sample.json")));
            answer(exchange, isPing || isSample ? 200 : 400, "{}");
        });
        try (var closing = new FaultyProxy(
                        URI.create(url(server)),
                        request -> request.method().equals("POST") && request.attempt() % 2 == 0
                                ? new FaultyProxy.Fault.CutRequest(0)
                                : new FaultyProxy.Fault.Pass());
                var kit = conformance(
                        closing.endpoint().toString(),
                        "--body",
                        "model-artifact/sample.json",
                        "--only",
                        "ERR-03,INV-14")) {
            kit.exitCode();
            assertThat(kit.out())
                    .contains("ERR-03   R   holds      200 after 1000 errors")
                    .contains("INV-14   R   MISSED     request 1: ");
        } finally {
            server.stop(0);
        }
    }

    @Test
    void withoutARequestFewRowsAreAskedAndWordsItDoesNotKnowAreNamed() throws Exception {
        try (var nothing = conformance("http://localhost:1")) {
            assertThat(nothing.exitCode()).isEqualTo(2);
            assertThat(nothing.err()).contains("conformance: nothing answers at http://localhost:1");
        }
        try (var unknown = conformance("http://localhost:1", "--fast", "1")) {
            assertThat(unknown.exitCode()).isEqualTo(2);
            assertThat(unknown.err()).contains("--fast: found no such option");
        }
        try (var file = conformance("http://localhost:1", "--body", "no-such-file")) {
            assertThat(file.exitCode()).isEqualTo(2);
            assertThat(file.err()).contains("--body: found no file no-such-file");
        }
        try (var list = conformance("--list")) {
            assertThat(list.exitCode()).isZero();
            assertThat(list.out()).contains("PING-01  `GET /ping`, model ready");
        }
    }

    private static HttpServer server(HttpHandler handler) throws IOException {
        var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", handler);
        server.start();
        return server;
    }

    private static String url(HttpServer server) {
        return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    private static void answer(HttpExchange exchange, int status, String text) throws IOException {
        exchange.getRequestBody().transferTo(OutputStream.nullOutputStream());
        var body = text.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, body.length);
        try (var out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    /// Runs it where nothing of Berth is built. Its limits of time are 100 times as long: CI machines
    /// are busy.
    private ServeProcess conformance(String... arguments) throws IOException {
        for (var needed : List.of(Path.of("conformance"), Path.of("tools/conformance"), Path.of("docs/contract.md"))) {
            try (var files = Files.walk(needed)) {
                for (var file : files.filter(Files::isRegularFile).toList()) {
                    Files.createDirectories(directory.resolve(file).getParent());
                    Files.copy(
                            file,
                            directory.resolve(file),
                            StandardCopyOption.REPLACE_EXISTING,
                            StandardCopyOption.COPY_ATTRIBUTES);
                }
            }
        }
        var command = new ArrayList<>(List.of(directory.resolve("conformance").toString()));
        command.addAll(List.of(arguments));
        if (arguments[0].startsWith("http")) {
            command.addAll(List.of("--patience", "100", "--timeout", "300"));
        }
        return ServeProcess.start(Map.of(), command);
    }
}
