package dev.berth.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.berth.metrics.ModelMetrics;
import dev.berth.metrics.ServingMetrics;
import dev.berth.telemetry.emf.EmfDocuments;
import dev.berth.testing.EmfRules;
import dev.berth.testing.ServeProcess;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Metrics in CloudWatch's Embedded Metric Format.
class EmfTest {

    private static final Map<String, String> DIMENSIONS = Map.of("EndpointName", "demo", "VariantName", "AllTraffic");
    private static final JsonMapper JSON = new JsonMapper();

    @Test
    @Tag("slow")
    void aServerPrintsThemOnLinesOfTheirOwn() throws Exception {
        try (var server = ServeProcess.java(Map.of(
                        "BERTH_METRICS_FORMAT", "emf",
                        "BERTH_METRICS_INTERVAL_SECONDS", "1",
                        "BERTH_LOG_FORMAT", "json",
                        "BERTH_METRICS_DIMENSIONS", "EndpointName=demo,VariantName=AllTraffic"))
                .awaitReady()) {
            server.invokeSample();
            await().until(() -> documents(server).stream().anyMatch(line -> line.contains("berth_predict_seconds")));
            server.invokeSample();
            assertThat(server.terminate().exitCode()).isZero();
            double records = 0;
            for (var line : documents(server)) {
                EmfRules.check(line);
                var document = JSON.readTree(line);
                assertThat(document.get("EndpointName").asText()).isEqualTo("demo");
                records += document.path("berth_records_total").asDouble();
            }
            // The end has printed what the last interval has not.
            assertThat(records).isEqualTo(2);
            for (var line : server.out().lines().toList()) {
                assertThat(JSON.readTree(line).isObject()).isTrue();
            }
        }
    }

    private static List<String> documents(ServeProcess server) throws IOException {
        return server.out()
                .lines()
                .filter(line -> line.startsWith("{\"_aws\"") && line.endsWith("}"))
                .toList();
    }

    @Test
    void eachSetOfDimensionsHasADocumentWithWhatHasComeSinceTheLast() throws Exception {
        try (var metrics = new ServingMetrics(true)) {
            var model = metrics.ofModel("answers");
            var documents = new EmfDocuments(DIMENSIONS);
            entered(model, 200, 3, 3, 15, 70_000);
            var first = documents(documents, metrics);
            assertThat(number(first, "answers", "berth_requests_in_flight")).isZero();
            assertThat(first.get("answers").get("vllm:e2e_request_latency_seconds"))
                    .isNull();
            var latency = first.get("answers").get("berth_model_request_seconds");
            assertThat(latency.get("Values")).extracting(JsonNode::asDouble).containsExactly(0.005, 0.02, 60.0);
            assertThat(latency.get("Counts")).extracting(JsonNode::asDouble).containsExactly(2.0, 1.0, 1.0);
            assertThat(latency.get("Sum").asDouble()).isEqualTo(70.021);
            assertThat(number(first, "answers 200", "berth_model_requests_total"))
                    .isEqualTo(4);
            assertThat(number(first, "", "berth_models_loaded")).isZero();

            entered(model, 503, 1);
            var second = documents(documents, metrics);
            assertThat(second.get("answers")
                            .at("/berth_model_failure_seconds/Count")
                            .asDouble())
                    .isEqualTo(1);
            // None has succeeded, so there is no latency.
            assertThat(second.get("answers").get("berth_model_request_seconds")).isNull();
            assertThat(number(second, "answers 200", "berth_model_requests_total"))
                    .isZero();
            assertThat(number(second, "answers 503", "berth_model_requests_total"))
                    .isEqualTo(1);
            assertThat(documents(documents, metrics).get("answers").get("berth_model_failure_seconds"))
                    .isNull();
        }
    }

    private static double number(Map<String, JsonNode> documents, String labels, String metric) {
        return documents.get(labels).get(metric).asDouble();
    }

    @Test
    void aModelThatIsLoadedAgainCountsFromZero() throws Exception {
        try (var metrics = new ServingMetrics()) {
            var documents = new EmfDocuments(Map.of());
            for (int records : new int[] {5, 2}) {
                var model = metrics.ofModel("a");
                model.requestQueued(records);
                assertThat(number(documents(documents, metrics), "a", "berth_records_total"))
                        .isEqualTo(records);
                model.close();
            }
        }
    }

    @Test
    void aNameThatNoDimensionMayHaveIsMadeOneAndManyMetricsAreSeveralDocuments() throws Exception {
        try (var metrics = new ServingMetrics()) {
            var model = metrics.ofModel("モデル " + "a".repeat(2000));
            IntStream.range(0, 100)
                    .forEach(i -> model.ofHooks.counter("metric" + i, "").increment());
            metrics.ofModel("\u0007");
            var lines = new EmfDocuments(DIMENSIONS).of(metrics.snapshots(), Instant.now());
            assertThat(lines).filteredOn(line -> line.contains("??? aaa")).hasSize(2);
            for (var line : lines) {
                EmfRules.check(line);
            }
        }
    }

    private static void entered(ModelMetrics model, int status, int... millis) {
        for (int took : millis) {
            model.requestEntered();
            model.requestCompleted(status, Duration.ofMillis(took));
        }
    }

    /// By model and status.
    private static Map<String, JsonNode> documents(EmfDocuments documents, ServingMetrics metrics) throws Exception {
        var all = new HashMap<String, JsonNode>();
        for (var line : documents.of(metrics.snapshots(), Instant.now())) {
            EmfRules.check(line);
            var document = JSON.readTree(line);
            if (!document.has("model_name")) {
                all.put(
                        (document.path("model").asText() + " "
                                        + document.path("status").asText())
                                .strip(),
                        document);
            }
        }
        return all;
    }
}
