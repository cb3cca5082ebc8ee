package dev.berth.telemetry.emf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.config.Configuration;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class EmfConfigTest {

    @Test
    void theSettingsAreRead() {
        assertThat(read(Map.of()))
                .isEqualTo(new EmfConfig(EmfConfig.Format.PROMETHEUS, Duration.ofSeconds(60), Map.of()));
        assertThat(read(Map.of(
                        "BERTH_METRICS_FORMAT",
                        "emf",
                        "BERTH_METRICS_INTERVAL_SECONDS",
                        "10",
                        "BERTH_METRICS_DIMENSIONS",
                        "EndpointName=demo, VariantName=AllTraffic")))
                .isEqualTo(new EmfConfig(
                        EmfConfig.Format.EMF,
                        Duration.ofSeconds(10),
                        Map.of("EndpointName", "demo", "VariantName", "AllTraffic")));
    }

    @Test
    void dimensionsThatCanNotBeAreProblems() {
        assertThatThrownBy(() -> read(Map.of("BERTH_METRICS_DIMENSIONS", "EndpointName")))
                .hasMessageContaining("BERTH_METRICS_DIMENSIONS")
                .hasMessageContaining("EndpointName=demo");
        assertThatThrownBy(() -> read(Map.of("BERTH_METRICS_DIMENSIONS", "model=a")))
                .hasMessage(
                        "metrics-dimensions: found model, expected another name; each model has its own" + " already");
    }

    private static EmfConfig read(Map<String, String> environment) {
        return Configuration.read(environment, Map.of(), Path.of("")).config().of(EmfConfig.class);
    }
}
