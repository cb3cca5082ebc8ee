package dev.berth.telemetry.otlp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.config.Configuration;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class OtlpConfigTest {

    @Test
    void theEndpointAndTheVariablesOfOpenTelemetryAreRead() {
        assertThat(read(Map.of("BERTH_OTLP_ENDPOINT", "http://collector:4318", "OTEL_SERVICE_NAME", "answers")))
                .isEqualTo(new OtlpConfig(
                        Optional.of(URI.create("http://collector:4318")), Map.of("OTEL_SERVICE_NAME", "answers")));
    }

    @Test
    void itIsOnWhereASignalHasAnEndpoint() {
        assertThat(read(Map.of()).isOn()).isFalse();
        assertThat(read(Map.of("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:4318")).isOn())
                .isTrue();
        var traces = read(Map.of("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://a:4318/v1/traces"));
        assertThat(traces.isOn()).isTrue();
        assertThat(traces.hasEndpoint("METRICS")).isFalse();
        assertThat(read(Map.of("BERTH_OTLP_ENDPOINT", "http://a:4318", "OTEL_SDK_DISABLED", "true"))
                        .isOn())
                .isFalse();
    }

    @Test
    void whatCanNotBeIsAProblem() {
        assertThatThrownBy(() -> read(Map.of("BERTH_OTLP_ENDPOINT", "collector:4318")))
                .hasMessageContaining("BERTH_OTLP_ENDPOINT")
                .hasMessageContaining("http://collector:4318");
        assertThatThrownBy(() -> read(Map.of("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc")))
                .hasMessageContaining(
                        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: found grpc, expected http/protobuf, mostly at port"
                                + " 4318");
    }

    private static OtlpConfig read(Map<String, String> environment) {
        return Configuration.read(environment, Map.of(), Path.of("")).config().of(OtlpConfig.class);
    }
}
