package dev.berth.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.OtlpReceiver;
import dev.berth.testing.ServeProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A server in a process of its own, with OpenTelemetry and without.
@Tag("slow")
class OtlpProcessTest {

    @TempDir
    private Path directory;

    @Test
    void whatIsLeftIsSentAtTheEnd() throws Exception {
        try (var receiver = new OtlpReceiver();
                var server = ServeProcess.java(Map.of(
                                "OTEL_EXPORTER_OTLP_ENDPOINT",
                                receiver.endpoint(),
                                "OTEL_BSP_SCHEDULE_DELAY",
                                "3600000",
                                "OTEL_METRIC_EXPORT_INTERVAL",
                                "3600000",
                                "OTEL_BLRP_SCHEDULE_DELAY",
                                "3600000"))
                        .awaitReady()) {
            server.invokeSample();
            assertThat(receiver.spans()).isEmpty();
            assertThat(server.terminate().exitCode()).isZero();
            assertThat(receiver.spans("POST /invocations")).hasSize(1);
            assertThat(receiver.metrics()).anyMatch(metric -> metric.getName().equals("berth_records"));
            assertThat(receiver.logs())
                    .anyMatch(line -> line.getBody().getStringValue().equals("stopping"));
        }
    }

    /// The exporter retries for longer than the end may take.
    @Test
    void aCollectorThatIsGoneHoldsUpNeitherRequestsNorTheEnd() throws Exception {
        try (var server = ServeProcess.java(Map.of(
                        "BERTH_OTLP_ENDPOINT",
                        "http://localhost:" + ServeProcess.freePort(),
                        "BERTH_DRAIN_SECONDS",
                        "0"))
                .awaitReady()) {
            await().until(() -> {
                server.invokeSample();
                return server.out().contains("stderr - ") && server.out().contains("Failed to export");
            });
            assertThat(server.terminate().exitCode()).isZero();
            assertThat(server.out())
                    .contains("could not be sent within 2 s of the end")
                    .contains("stopped");
        }
    }

    @Test
    void aServerThatSendsNothingLoadsNoClassForIt() throws Exception {
        var loaded = directory.resolve("classes.log");
        try (var server =
                ServeProcess.java(Map.of(), "-Xlog:class+load:file=" + loaded).awaitReady()) {
            server.invokeSample();
            assertThat(server.terminate().exitCode()).isZero();
        }
        assertThat(Files.readString(loaded))
                .contains("dev.berth.telemetry.RequestTrace")
                .contains("dev.berth.http.RequestLog")
                .doesNotContain("io.opentelemetry")
                .doesNotContain("dev.berth.telemetry.otlp.OtlpExport ");
    }
}
