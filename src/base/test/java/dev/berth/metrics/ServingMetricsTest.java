package dev.berth.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ServingMetricsTest {

    private final ServingMetrics metrics = new ServingMetrics();

    @AfterEach
    void close() {
        metrics.close();
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

    private Stream<String> names() {
        return metrics.scrape().lines().filter(line -> !line.startsWith("#")).map(line -> line.split("[{ ]", 2)[0]);
    }
}
