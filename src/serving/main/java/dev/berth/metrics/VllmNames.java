package dev.berth.metrics;

import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.Map;
import java.util.stream.Stream;

/// Copies of some series under the names that vLLM has for them, for dashboards that were made for
/// it.
///
/// What stands for what is a guess: vLLM counts sequences that are generated, Berth requests and
/// records.
final class VllmNames {

    private static final Map<String, String> NAMES = Map.of(
            "berth_requests_in_flight", "vllm:num_requests_running",
            "berth_queue_depth", "vllm:num_requests_waiting",
            "berth_model_request_seconds", "vllm:e2e_request_latency_seconds");

    private VllmNames() {}

    static MetricSnapshots added(MetricSnapshots snapshots) {
        return new MetricSnapshots(snapshots.stream()
                .flatMap(snapshot -> NAMES.containsKey(snapshot.getMetadata().getName())
                        ? Stream.of(snapshot, copy(snapshot))
                        : Stream.of(snapshot))
                .toList());
    }

    private static MetricSnapshot copy(MetricSnapshot snapshot) {
        var known = snapshot.getMetadata();
        var metadata =
                new MetricMetadata(NAMES.get(known.getName()), "%s (%s)".formatted(known.getHelp(), known.getName()));
        return switch (snapshot) {
            case GaugeSnapshot gauge ->
                new GaugeSnapshot(
                        metadata,
                        gauge.getDataPoints().stream()
                                .map(point ->
                                        new GaugeDataPointSnapshot(point.getValue(), labels(point.getLabels()), null))
                                .toList());
            case HistogramSnapshot histogram ->
                new HistogramSnapshot(
                        metadata,
                        histogram.getDataPoints().stream()
                                .map(point -> new HistogramDataPointSnapshot(
                                        point.getClassicBuckets(),
                                        point.getSum(),
                                        labels(point.getLabels()),
                                        point.getExemplars(),
                                        0))
                                .toList());
            default ->
                throw new IllegalStateException("%s: found a %s, expected a gauge or a histogram"
                        .formatted(known.getName(), snapshot.getClass().getSimpleName()));
        };
    }

    /// vLLM has the name of the model in `model_name`.
    private static Labels labels(Labels labels) {
        return Labels.of("model_name", labels.get(Instruments.LABEL));
    }
}
