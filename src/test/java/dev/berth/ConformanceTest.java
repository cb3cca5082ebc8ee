package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.berth.testing.ServeProcess;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `./conformance` asks Berth, and a server that breaks the contract.
@Tag("packaged")
class ConformanceTest {

  private static final String LINES =
      """
      {"question": "Who came?", "context": "Bob came."}
      {"question": "Where was Marie Curie born?", "context": "Marie Curie was born in Warsaw."}
      """;

  @TempDir private Path directory;

  @Test
  void theSampleHoldsEveryRow() throws Exception {
    var lines = Files.writeString(directory.resolve("lines.jsonl"), LINES).toString();
    try (var server = ServeProcess.serve(Map.of("INSTANCE_TYPE", "cpu")).awaitReady();
        var kit =
            conformance(
                server.uri("/").toString(),
                "--body",
                "model-artifact/sample.json",
                "--lines",
                lines)) {
      assertThat(kit.exitCode()).as(kit.out() + kit.err()).isZero();
      assertThat(kit.out())
          .contains(
              "PING-01  P0  holds",
              "INV-07   P   holds",
              "BAT-07   P   holds",
              "BIDI-03  P   holds")
          .contains("SES-01   P   not asked  it has no sessions")
          .contains("missed: 0");
    }
  }

  @Test
  void manyModelsHoldEveryRow() throws Exception {
    try (var server =
            ServeProcess.serve(Map.of("INSTANCE_TYPE", "cpu", "SAGEMAKER_MULTI_MODEL", "true"))
                .awaitReady();
        var kit =
            conformance(
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
    var broken = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    broken.createContext(
        "/",
        exchange -> {
          exchange.getRequestBody().transferTo(OutputStream.nullOutputStream());
          var body = "Traceback (most recent call last): no".getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(
              exchange.getRequestURI().getPath().equals("/ping") ? 200 : 400, body.length);
          try (var out = exchange.getResponseBody()) {
            out.write(body);
          }
        });
    broken.start();
    var url = "http://localhost:" + broken.getAddress().getPort();
    try (var kit =
        conformance(
            url,
            "--body",
            "model-artifact/sample.json",
            "--only",
            "PING-01,INV-01,ERR-01,INV-03")) {
      assertThat(kit.exitCode()).isEqualTo(1);
      assertThat(kit.out())
          .contains("PING-01  P0  holds")
          .contains("INV-01   P0  MISSED     400 Traceback")
          .contains("expected: 2xx, body, `Content-Type` (DG:")
          .contains("INV-03   A   MISSED     400")
          .contains("ERR-01   P   MISSED     400 with a stack trace")
          .contains("holds: 1, missed: 3, not asked: 0");
    } finally {
      broken.stop(0);
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

  /// Its limits of time are 100 times as long: CI machines are busy.
  private static ServeProcess conformance(String... arguments) throws IOException {
    var command = new ArrayList<>(List.of(Path.of("conformance").toAbsolutePath().toString()));
    command.addAll(List.of(arguments));
    if (arguments[0].startsWith("http")) {
      command.addAll(List.of("--patience", "100", "--timeout", "300"));
    }
    return ServeProcess.start(Map.of(), command);
  }
}
