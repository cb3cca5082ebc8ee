package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class MetricsTest {

    @Test
    @Tag("OBS-03")
    void requestsRecordsAndTimesAreCountedInPrometheusText() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start()) {
            server.invoke("a\nb\nc");
            server.get("/nope");
            server.get("/another");
            server.awaitMetrics(
                    "berth_requests_total{route=\"/invocations\",status=\"200\"} 1.0",
                    "berth_requests_total{route=\"other\",status=\"404\"} 2.0");
            var response = server.get("/metrics");
            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.headers().firstValue("Content-Type").orElseThrow())
                    .startsWith("text/plain")
                    .contains("version=0.0.4");
            assertThat(response.body())
                    .contains(
                            "# TYPE berth_requests_total counter",
                            "berth_records_total{model=\"model\"} 3.0",
                            "berth_predict_seconds_count{model=\"model\"} 3",
                            "berth_decode_seconds_count{model=\"model\"} 1",
                            "berth_encode_seconds_count{model=\"model\"} 1",
                            "berth_queue_depth{model=\"model\"} 0.0",
                            "berth_batch_size_count{model=\"model\"} 3",
                            "berth_model_load_seconds_count 1",
                            "berth_padding_tokens_total",
                            "jvm_memory_used_bytes",
                            "process_cpu_usage");
        }
    }

    @Test
    void whatAnAutoscalerNeedsIsThere() throws Exception {
        var gate = new Gate(1);
        try (var server = TestServer.with(new GatedHandler(gate))
                .start("BERTH_QUEUE_CAPACITY=20", "BERTH_MAX_BATCH_SIZE=1", "SAGEMAKER_MODEL_SERVER_WORKERS=1")) {
            assertThat(server.get("/metrics").body())
                    .contains(
                            "berth_requests_in_flight{model=\"model\"} 0.0",
                            "berth_queue_capacity{model=\"model\"} 20.0",
                            "berth_expected_wait_seconds{model=\"model\"} 0.0",
                            "berth_stuck_hooks{model=\"model\"} 0.0",
                            "berth_ready 1.0")
                    .containsPattern("berth_build_info\\{java=\"[^\"]+\",version=\"[^\"]+\"} 1");
            var waiting = List.of(server.invokeAsync("a\nb\nc"), server.invokeAsync("d\ne"));
            server.awaitMetrics(
                    "berth_requests_in_flight{model=\"model\"} 2.0", "berth_queue_depth{model=\"model\"} 2.0");
            gate.open();
            waiting.forEach(CompletableFuture::join);
            server.awaitMetrics("berth_requests_in_flight{model=\"model\"} 0.0");
        }
    }

    @Test
    void someAreThereUnderTheNamesOfVllmOnRequest() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start("BERTH_METRICS_ALIASES=vllm")) {
            server.invoke("a");
            server.awaitMetrics(
                    "# TYPE vllm:num_requests_running gauge",
                    "vllm:num_requests_running{model=\"model\",model_name=\"model\"} 0.0",
                    "vllm:num_requests_waiting{model=\"model\",model_name=\"model\"} 0.0",
                    "vllm:e2e_request_latency_seconds_bucket{model=\"model\",model_name=\"model\",le=\"60.0\"} 1",
                    "vllm:e2e_request_latency_seconds_count{model=\"model\",model_name=\"model\"} 1",
                    "berth_requests_in_flight{model=\"model\"} 0.0");
        }
    }

    @Test
    @Tag("OBS-04")
    void theirPathFollowsItsVariable() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start("BERTH_METRICS_PATH=/server/metrics")) {
            assertThat(server.get("/server/metrics").body()).contains("berth_queue_depth");
            assertThat(server.get("/metrics").statusCode()).isEqualTo(404);
        }
    }
}
