package dev.berth.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.OtlpReceiver;
import dev.berth.testing.ServeProcess;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A server in a process of its own, with OpenTelemetry and without.
class OtlpProcessTest {

  @TempDir
  private Path directory;

  @Test
  void whatIsLeftIsSentAtTheEnd() throws Exception {
    try (var receiver = new OtlpReceiver();
        var server = start(Map.of(
            "OTEL_EXPORTER_OTLP_ENDPOINT", receiver.endpoint(), "OTEL_BSP_SCHEDULE_DELAY", "3600000",
            "OTEL_METRIC_EXPORT_INTERVAL", "3600000", "OTEL_BLRP_SCHEDULE_DELAY", "3600000")).awaitReady()) {
      invoke(server);
      assertThat(receiver.spans()).isEmpty();
      assertThat(server.terminate().exitCode()).isZero();
      assertThat(receiver.spans("POST /invocations")).hasSize(1);
      assertThat(receiver.metrics()).anyMatch(metric -> metric.getName().equals("berth_records"));
      assertThat(receiver.logs()).anyMatch(line -> line.getBody().getStringValue().equals("stopping"));
    }
  }

  @Test
  void aServerThatSendsNothingLoadsNoClassForIt() throws Exception {
    var loaded = directory.resolve("classes.log");
    try (var server = start(Map.of(), "-Xlog:class+load:file=" + loaded).awaitReady()) {
      invoke(server);
      assertThat(server.terminate().exitCode()).isZero();
    }
    assertThat(Files.readString(loaded))
        .contains("dev.berth.telemetry.RequestTrace").contains("dev.berth.http.RequestLog")
        .doesNotContain("io.opentelemetry").doesNotContain("dev.berth.telemetry.otlp");
  }

  private static void invoke(ServeProcess server) throws Exception {
    var body = Files.readString(TestServer.SAMPLE_ARTIFACT.resolve("sample.json"));
    assertThat(server.client().send(server.invocation(body).header("Content-Type", "application/json").build(),
        BodyHandlers.ofString()).statusCode()).isEqualTo(200);
  }

  private static ServeProcess start(Map<String, String> environment, String... options) throws IOException {
    var command = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "--enable-native-access=ALL-UNNAMED", "-Xmx512m", "-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(options));
    command.addAll(List.of("dev.berth.Main", "--model-dir", TestServer.SAMPLE_ARTIFACT.toString(), "--host", "127.0.0.1"));
    return ServeProcess.start(environment, command);
  }
}
