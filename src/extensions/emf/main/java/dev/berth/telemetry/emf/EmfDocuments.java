package dev.berth.telemetry.emf;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.DoubleNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.json.JsonText;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.DataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Instant;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Gatherers;

/// Makes a document of CloudWatch's Embedded Metric Format for each set of dimensions: the process,
/// each model, and each status that a model has answered with. Counters and histograms have what
/// has come since the documents before.
///
/// A histogram is an array of values, each the upper bound of a bucket, and one of how often each
/// was there. So percentiles are those of buckets, while sum and count are exact.
///
/// Used by one thread at a time.
public final class EmfDocuments {

    static final String NAMESPACE = "Berth";

    /// The format's own limit for a document.
    static final int MOST_METRICS = 100;

    /// The format's own limit for the value of a dimension.
    static final int LONGEST_VALUE = 1024;

    /// CloudWatch charges for each metric, so only series with these labels are there, and only
    /// Berth's and the hooks'.
    private static final Set<String> LABELS = Set.of("model", "status", "model_name");

    private static final List<String> PREFIXES = List.of("berth_", "hooks_", "vllm:");

    private final Map<String, String> dimensions;

    /// What counters had when the documents before were made, by name and labels.
    private Map<String, Double> before = new HashMap<>();

    private Map<String, Double> now = new HashMap<>();

    /// @param dimensions of all metrics, by name
    public EmfDocuments(Map<String, String> dimensions) {
        this.dimensions = new TreeMap<>(dimensions);
    }

    /// @return documents without a line break, at most [#MOST_METRICS] metrics in each
    public List<String> of(MetricSnapshots snapshots, Instant time) {
        now = new HashMap<>();
        var byLabels = new LinkedHashMap<Labels, Map<String, JsonNode>>();
        for (var snapshot : snapshots) {
            var name = snapshot.getMetadata().getName();
            // The histograms have the longest of all.
            if (PREFIXES.stream().noneMatch(name::startsWith) || name.endsWith("_max")) {
                continue;
            }
            for (var point : snapshot.getDataPoints()) {
                var labels = point.getLabels();
                if (labels.stream().allMatch(label -> LABELS.contains(label.getName()))) {
                    value(name + labels, point)
                            .ifPresent(value -> byLabels.computeIfAbsent(labels, _ -> new LinkedHashMap<>())
                                    .put(snapshot instanceof CounterSnapshot ? name + "_total" : name, value));
                }
            }
        }
        before = now;
        return byLabels.entrySet().stream()
                .flatMap(set -> set.getValue().entrySet().stream()
                        .gather(Gatherers.windowFixed(MOST_METRICS))
                        .map(metrics -> document(set.getKey(), metrics, time)))
                .toList();
    }

    /// Nothing where there is none. Of other kinds, Berth has no metrics that change.
    private Optional<JsonNode> value(String key, DataPointSnapshot point) {
        return switch (point) {
            case CounterDataPointSnapshot counter -> Optional.of(DoubleNode.valueOf(more(key, counter.getValue())));
            case GaugeDataPointSnapshot gauge ->
                Optional.of(gauge.getValue()).filter(Double::isFinite).map(DoubleNode::valueOf);
            case HistogramDataPointSnapshot histogram -> values(key, histogram);
            default -> Optional.empty();
        };
    }

    private Optional<JsonNode> values(String key, HistogramDataPointSnapshot point) {
        var counts = new TreeMap<Double, Double>();
        var buckets = point.getClassicBuckets();
        for (int i = 0; i < buckets.size(); i++) {
            double more = more(key + i, (double) buckets.getCount(i));
            if (more > 0) {
                // What is beyond the last bound counts as that.
                counts.merge(buckets.getUpperBound(Math.min(i, Math.max(0, buckets.size() - 2))), more, Double::sum);
            }
        }
        double sum = more(key + "sum", point.getSum());
        if (counts.isEmpty()) {
            return Optional.empty();
        }
        var histogram = JsonNodeFactory.instance.objectNode();
        counts.keySet().forEach(histogram.putArray("Values")::add);
        counts.values().forEach(histogram.putArray("Counts")::add);
        double count = counts.values().stream().mapToDouble(Double::doubleValue).sum();
        return Optional.of(histogram
                .put("Min", counts.firstKey())
                .put("Max", counts.lastKey())
                .put("Sum", sum)
                .put("Count", count));
    }

    /// How much a counter has grown. One that is smaller than before belongs to a model that was
    /// loaded again.
    private double more(String key, double value) {
        now.put(key, value);
        double last = before.getOrDefault(key, 0.0);
        return value < last ? value : value - last;
    }

    private String document(Labels labels, List<Map.Entry<String, JsonNode>> metrics, Instant time) {
        var root = JsonNodeFactory.instance.objectNode();
        var all = new LinkedHashMap<>(dimensions);
        labels.forEach(label -> all.put(label.getName(), shown(label.getValue())));
        var aws = root.putObject("_aws").put("Timestamp", time.toEpochMilli());
        var directive = aws.putArray("CloudWatchMetrics").addObject().put("Namespace", NAMESPACE);
        var names = directive.putArray("Dimensions").addArray();
        all.keySet().forEach(names::add);
        var definitions = directive.putArray("Metrics");
        metrics.forEach(metric -> definitions
                .addObject()
                .put("Name", metric.getKey())
                .put("Unit", metric.getKey().endsWith("_seconds") ? "Seconds" : "Count"));
        all.forEach(root::put);
        metrics.forEach(metric -> root.set(metric.getKey(), metric.getValue()));
        return JsonText.write(root);
    }

    /// The name of a model may be anything, the value of a dimension may not.
    private static String shown(String value) {
        var plain = value.replaceAll("[^ -~]", "?");
        var cut = plain.substring(0, Math.min(plain.length(), LONGEST_VALUE));
        return cut.isBlank() ? "?" : cut;
    }
}
