package dev.berth.telemetry.otlp;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.config.Configuration;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OtlpConfigTest {

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

    private static OtlpConfig read(Map<String, String> environment) {
        return OtlpConfig.of(
                Configuration.read(environment, Map.of(), Path.of("")).config());
    }
}
