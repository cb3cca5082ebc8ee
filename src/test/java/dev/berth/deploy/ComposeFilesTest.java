package dev.berth.deploy;

import static dev.berth.deploy.KubernetesFilesTest.texts;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.config.Configuration;
import dev.berth.config.HttpConfig;
import dev.berth.config.MonitoringConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// What stands in the files of `deploy/compose` about each other and about Berth. `ComposeTest`
/// runs what can be run.
class ComposeFilesTest {

    private static final Path COMPOSE = Path.of("deploy/compose");

    @Test
    void whatIsMountedIsThere() throws Exception {
        var services = read("compose.yaml").path("services");
        var mounted = services.propertyStream()
                .flatMap(service -> texts(service.getValue().path("volumes")))
                .map(volume -> volume.replace("${MODEL:-../../model-artifact}", "../../model-artifact")
                        .split(":")[0])
                .toList();
        assertThat(mounted)
                .isNotEmpty()
                .allSatisfy(path -> assertThat(COMPOSE.resolve(path)).exists());
    }

    @Test
    void prometheusAsksBerth() throws Exception {
        var config = Configuration.read(Map.of(), Map.of(), Path.of(".")).config();
        var job = read("prometheus.yaml").at("/scrape_configs/0");
        assertThat(job.path("metrics_path").asText()).isEqualTo(config.get(MonitoringConfig.METRICS_PATH));
        assertThat(job.at("/static_configs/0/targets/0").asText()).isEqualTo("berth:" + config.get(HttpConfig.PORT));
        assertThat(read("compose.yaml").path("services").has("berth")).isTrue();
    }

    @Test
    void grafanaAsksPrometheusAndFindsTheDashboards() throws Exception {
        var grafana = read("compose.yaml").at("/services/grafana");
        assertThat(read("grafana/datasource.yaml").at("/datasources/0/url").asText())
                .isEqualTo("http://prometheus:9090");
        var folder =
                read("grafana/dashboards.yaml").at("/providers/0/options/path").asText();
        assertThat(texts(grafana.path("volumes"))).anyMatch(volume -> volume.contains(":" + folder));
    }

    @Test
    void nobodyElseReachesThePorts() throws Exception {
        read("compose.yaml")
                .path("services")
                .forEach(service -> assertThat(texts(service.path("ports")))
                        .isNotEmpty()
                        .allMatch(port -> port.startsWith("127.0.0.1:")));
    }

    private static JsonNode read(String file) throws IOException {
        return KubernetesFilesTest.read(Files.readString(COMPOSE.resolve(file)));
    }
}
