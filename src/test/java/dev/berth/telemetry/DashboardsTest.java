package dev.berth.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.berth.metrics.ServingMetrics;
import dev.berth.telemetry.emf.EmfDocuments;
import dev.berth.testing.CountingStream;
import dev.berth.testing.EmfRules;
import dev.berth.testing.ServeProcess;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Everything in `deploy/dashboards` asks for metrics that a server has.
class DashboardsTest {

    private static final Path DASHBOARDS = Path.of("deploy/dashboards");
    private static final Pattern METRIC = Pattern.compile("\\b(?:berth|jvm|process)_[a-z_]+");
    private static final JsonMapper JSON = new JsonMapper();

    /// Statuses of requests that fail. They have the same series as that of one that does not.
    private static final Set<String> STATUSES = Set.of("200", "400", "429", "500", "503", "504", "507");

    /// A metric of CloudWatch: its name, and its dimensions.
    private record Metric(String name, Map<String, String> dimensions) {
        Metric {
            dimensions = dimensions.entrySet().stream()
                    .collect(Collectors.toUnmodifiableMap(
                            Map.Entry::getKey,
                            entry -> entry.getKey().equals("status") ? status(entry.getValue()) : entry.getValue()));
        }

        private static String status(String status) {
            assertThat(STATUSES).contains(status);
            return "200";
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"grafana.json", "prometheus-rules.yml"})
    void prometheusHasEachMetric(String file) throws Exception {
        var text = Files.readString(DASHBOARDS.resolve(file));
        try (var server = TestServer.with(new CountingStream()).start()) {
            server.invoke("3");
            server.awaitMetrics("berth_model_requests_total");
            var known = server.get("/metrics")
                    .body()
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> line.split("[{ ]")[0])
                    .collect(Collectors.toSet());
            var asked =
                    METRIC.matcher(text).results().map(match -> match.group()).collect(Collectors.toSet());
            assertThat(asked).hasSizeGreaterThan(8).isSubsetOf(known);
        }
    }

    @Test
    void eachPanelHasAnIdAndAPlaceOfItsOwn() throws Exception {
        var panels = JSON.readTree(DASHBOARDS.resolve("grafana.json").toFile()).get("panels");
        var ids = new HashSet<Integer>();
        var cells = new HashSet<List<Integer>>();
        for (var panel : panels) {
            assertThat(ids.add(panel.get("id").asInt())).isTrue();
            var place = panel.get("gridPos");
            for (int x = 0; x < place.get("w").asInt(); x++) {
                for (int y = 0; y < place.get("h").asInt(); y++) {
                    assertThat(cells.add(List.of(
                                    place.get("x").asInt() + x, place.get("y").asInt() + y)))
                            .as(panel.get("title").asText())
                            .isTrue();
                }
            }
            panel.path("targets")
                    .forEach(target -> assertThat(target.get("expr").asText()).isNotBlank());
        }
    }

    @Test
    @Tag("slow")
    void cloudWatchHasEachMetricWithItsDimensions() throws Exception {
        var known = printed();
        var asked = new ArrayList<Metric>();
        for (var widget : json("cloudwatch.json").get("widgets")) {
            for (var metric : widget.get("properties").get("metrics")) {
                assertThat(metric.get(0).asText()).isEqualTo("Berth");
                var dimensions = new HashMap<String, String>();
                for (int i = 2; i + 1 < metric.size(); i += 2) {
                    dimensions.put(metric.get(i).asText(), metric.get(i + 1).asText());
                }
                asked.add(new Metric(metric.get(1).asText(), dimensions));
            }
        }
        for (var alarm : json("cloudwatch-alarms.json")) {
            assertThat(alarm.get("Namespace").asText()).isEqualTo("Berth");
            assertThat(alarm.get("AlarmDescription").asText()).isNotBlank();
            asked.add(metric(alarm));
        }
        asked.add(metric(json("target-tracking.json")
                .at("/ScalingPolicy/TargetTrackingScalingPolicyConfiguration/CustomizedMetricSpecification")));
        assertThat(asked)
                .hasSizeGreaterThan(25)
                .allSatisfy(metric -> assertThat(known).contains(metric));
    }

    private static Metric metric(JsonNode node) {
        var dimensions = new HashMap<String, String>();
        node.get("Dimensions")
                .forEach(dimension -> dimensions.put(
                        dimension.get("Name").asText(), dimension.get("Value").asText()));
        return new Metric(node.get("MetricName").asText(), dimensions);
    }

    private static JsonNode json(String file) throws IOException {
        return JSON.readTree(Files.readString(DASHBOARDS.resolve(file))
                .replace("${EndpointName}", "demo")
                .replace("${VariantName}", "AllTraffic")
                .replace("${AWS::Region}", "eu-west-1"));
    }

    /// What a server with the names of an endpoint prints.
    private static Set<Metric> printed() throws Exception {
        try (var server = ServeProcess.java(Map.of(
                        "BERTH_METRICS_FORMAT",
                        "emf",
                        "BERTH_METRICS_DIMENSIONS",
                        "EndpointName=demo,VariantName=AllTraffic"))
                .awaitReady()) {
            server.invokeSample();
            assertThat(server.terminate().exitCode()).isZero();
            var metrics = new HashSet<Metric>();
            for (var line : server.out()
                    .lines()
                    .filter(text -> text.startsWith("{\"_aws\""))
                    .toList()) {
                metrics.addAll(metrics(line));
            }
            // The sample has no streams.
            try (var streaming = new ServingMetrics()) {
                streaming.ofModel("model").streams();
                var dimensions = Map.of("EndpointName", "demo", "VariantName", "AllTraffic");
                for (var line : new EmfDocuments(dimensions).of(streaming.snapshots(), Instant.EPOCH)) {
                    metrics.addAll(metrics(line));
                }
            }
            return metrics;
        }
    }

    private static List<Metric> metrics(String line) throws Exception {
        var names = EmfRules.check(line);
        var document = JSON.readTree(line);
        var dimensions = new HashMap<String, String>();
        document.at("/_aws/CloudWatchMetrics/0/Dimensions/0")
                .forEach(name -> dimensions.put(
                        name.asText(), document.get(name.asText()).asText()));
        return names.stream().map(name -> new Metric(name, dimensions)).toList();
    }
}
