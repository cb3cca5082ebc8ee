package dev.berth.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ServingMetricsTest {

    private final ServingMetrics metrics = new ServingMetrics();

    @AfterEach
    void close() {
        metrics.close();
    }

    @Test
    void everyInstrumentThatHasNoLabelsIsThereFromTheStart() {
        assertThat(names())
                .contains(
                        "berth_model_load_seconds_count",
                        "berth_models_loaded",
                        "berth_model_evictions_total",
                        "berth_connections",
                        "berth_out_of_memory_total");
    }

    @Test
    void lostLinesOfTheLogAreCountedByWhoeverLosesThem() {
        metrics.lostLogEvents(() -> 7);

        assertThat(metrics.scrape().lines()).contains("berth_log_lines_dropped_total 7.0");
    }

    @Test
    void theVirtualMachineAndTheProcessAreMeasuredToo() {
        assertThat(names())
                .contains(
                        "jvm_memory_used_bytes",
                        "jvm_threads_live_threads",
                        "process_cpu_usage",
                        "process_uptime_seconds");
    }

    /// What `promtool check metrics` looks at.
    @Test
    void namesAndTypesAreThoseThatPrometheusExpects() {
        metrics.ofModel("qa").streams();
        assertThat(metrics.scrape().lines().filter(line -> line.startsWith("# TYPE ")))
                .hasSizeGreaterThan(40)
                .allMatch(
                        line -> line.matches(
                                "# TYPE \\w+((?<=_total) counter|(?<!_total|_count|_sum|_bucket|_info) gauge|(?<=_info) gauge| histogram| summary)"))
                .noneMatch(line -> line.matches(".*_(ns|ms|millis|minutes|hours|kb|mb)[_ ].*"));
        assertThat(names()).contains("process_cpu_seconds_total");
    }

    @Test
    void connectionsAreCountedAndWhyTheyWereDropped() {
        metrics.connections.incrementAndGet();
        metrics.connections.incrementAndGet();
        metrics.connections.decrementAndGet();
        metrics.connectionsDropped.apply("made_way").increment();

        assertThat(metrics.scrape().lines())
                .contains("berth_connections 1.0", "berth_connections_dropped_total{reason=\"made_way\"} 1.0");
    }

    @Test
    void requestsAreCountedByRouteAndStatus() {
        metrics.requestCompleted("/invocations", 200, Duration.ofMillis(3));
        metrics.requestCompleted("/invocations", 200, Duration.ofMillis(30));
        metrics.requestCompleted("/invocations", 503, Duration.ofMillis(1));

        assertThat(metrics.scrape().lines())
                .contains(
                        "berth_requests_total{route=\"/invocations\",status=\"200\"} 2.0",
                        "berth_requests_total{route=\"/invocations\",status=\"503\"} 1.0",
                        "berth_request_seconds_count{route=\"/invocations\"} 3",
                        "berth_request_seconds_bucket{route=\"/invocations\",le=\"0.001\"} 1",
                        "berth_request_seconds_bucket{route=\"/invocations\",le=\"0.005\"} 2",
                        "berth_request_seconds_bucket{route=\"/invocations\",le=\"60.0\"} 3");
    }

    @Test
    void modelsAreCountedAndWhatBecameOfThoseThatWereToBeLoaded() {
        metrics.modelLoaded(Duration.ofSeconds(7));
        metrics.modelLoaded(Duration.ofMillis(40));
        metrics.loads.apply("bad_input").increment();
        metrics.evictions.increment();
        metrics.modelsLoaded.decrementAndGet();

        assertThat(metrics.scrape().lines())
                .contains(
                        "berth_models_loaded 1.0",
                        "berth_model_loads_total{result=\"loaded\"} 2.0",
                        "berth_model_loads_total{result=\"bad_input\"} 1.0",
                        "berth_model_evictions_total 1.0",
                        "berth_model_load_seconds_sum 7.04",
                        "berth_model_load_seconds_bucket{le=\"0.05\"} 1",
                        "berth_model_load_seconds_bucket{le=\"10.0\"} 2");
    }

    private Stream<String> names() {
        return metrics.scrape().lines().filter(line -> !line.startsWith("#")).map(line -> line.split("[{ ]", 2)[0]);
    }
}
