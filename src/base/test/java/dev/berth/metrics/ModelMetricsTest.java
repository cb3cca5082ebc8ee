package dev.berth.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class ModelMetricsTest {

    @AutoClose
    private final ServingMetrics process = new ServingMetrics();

    private final ModelMetrics metrics = process.ofModel("qa");

    /// What `promtool check metrics` looks at.
    @Test
    void namesAndTypesAreThoseThatPrometheusExpects() {
        metrics.streams();
        assertThat(process.scrape().lines().filter(line -> line.startsWith("# TYPE ")))
                .hasSizeGreaterThan(40)
                .allMatch(
                        line -> line.matches(
                                "# TYPE \\w+((?<=_total) counter|(?<!_total|_count|_sum|_bucket|_info) gauge|(?<=_info) gauge| histogram| summary)"))
                .noneMatch(line -> line.matches(".*_(ns|ms|millis|minutes|hours|kb|mb)[_ ].*"));
        assertThat(process.scrape().lines()).anyMatch(line -> line.startsWith("process_cpu_seconds_total "));
    }

    /// Each costs every reader: 210 models had 34,559 lines.
    @Test
    void thoseOfStreamsAreThereOnlyWhereTheModelHasThem() {
        assertThat(series()).noneMatch(line -> line.matches("berth_(stream|step|part|first_part).*"));
        metrics.streams();
        assertThat(series())
                .contains("berth_streams{model=\"qa\"} 0.0", "berth_streams_broken_total{model=\"qa\"} 0.0");
        metrics.close();
        assertThat(series()).isEmpty();
        metrics.streams().broken.increment();
        assertThat(series()).isEmpty();
    }

    @Test
    void paddingIsWhatABatchCostsBeyondItsLengths() {
        metrics.batchPredicted(3, 60, 90, Duration.ofMillis(40));

        assertThat(series())
                .contains(
                        "berth_tokens_total{model=\"qa\"} 60.0",
                        "berth_padding_tokens_total{model=\"qa\"} 30.0",
                        "berth_batch_size_bucket{model=\"qa\",le=\"2.0\"} 0",
                        "berth_batch_size_bucket{model=\"qa\",le=\"4.0\"} 1",
                        "berth_predict_seconds_bucket{model=\"qa\",le=\"0.02\"} 0",
                        "berth_predict_seconds_bucket{model=\"qa\",le=\"0.05\"} 1");
    }

    @Test
    void versionsOfAModelShareItsSeriesUntilAllAreGoneAndTheNextOneBeginsAnew() {
        var next = process.ofModel("qa");
        metrics.requestQueued(1);
        next.requestQueued(2);
        metrics.close();
        assertThat(series()).contains("berth_records_total{model=\"qa\"} 3.0", "berth_queue_depth{model=\"qa\"} 2.0");

        next.close();
        metrics.requestCompleted(200, Duration.ofMillis(1));
        metrics.stuckHooks.decrementAndGet();
        assertThat(series()).isEmpty();

        process.ofModel("qa").requestQueued(1);
        metrics.requestDequeued();
        assertThat(series()).contains("berth_records_total{model=\"qa\"} 1.0", "berth_queue_depth{model=\"qa\"} 1.0");
    }

    @Test
    void aThousandModelsLeaveNoSeries() throws Exception {
        var start = new CountDownLatch(1);
        try (var threads = Executors.newFixedThreadPool(4)) {
            List<? extends Future<?>> models = IntStream.range(0, 1000)
                    .mapToObj(number -> threads.submit(() -> {
                        start.await();
                        try (var model = process.ofModel("model-" + number / 2)) {
                            model.requestCompleted(200 + number % 2, Duration.ofMillis(1));
                            model.requestQueued(1);
                        }
                        return null;
                    }))
                    .toList();
            start.countDown();
            for (var model : models) {
                model.get();
            }
        }
        // Of collections of garbage, say, there may be new ones.
        assertThat(process.scrape()).doesNotContain("model=\"model-");
    }

    private List<String> series() {
        return process.scrape().lines().filter(line -> line.contains("{model=")).toList();
    }
}
