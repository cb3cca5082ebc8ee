package dev.berth.telemetry.emf;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.DoubleNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.json.JsonText;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

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

    private record Metric(String name, String unit, JsonNode value) {}

    /// @param dimensions of all metrics, by name
    public EmfDocuments(Map<String, String> dimensions) {
        this.dimensions = new TreeMap<>(dimensions);
    }

    /// @return documents without a line break, at most [#MOST_METRICS] metrics in each
    public List<String> of(MetricSnapshots snapshots, Instant time) {
        now = new HashMap<>();
        var byLabels = new LinkedHashMap<Labels, List<Metric>>();
        snapshots.stream()
                .filter(snapshot ->
                        PREFIXES.stream().anyMatch(snapshot.getMetadata().getName()::startsWith))
                // The histograms have it.
                .filter(snapshot -> !snapshot.getMetadata().getName().endsWith("_max"))
                .forEach(snapshot -> add(snapshot, byLabels));
        before = now;
        var documents = new ArrayList<String>();
        byLabels.forEach((labels, metrics) -> {
            for (int from = 0; from < metrics.size(); from += MOST_METRICS) {
                documents.add(
                        document(labels, metrics.subList(from, Math.min(metrics.size(), from + MOST_METRICS)), time));
            }
        });
        return documents;
    }

    private void add(MetricSnapshot snapshot, Map<Labels, List<Metric>> byLabels) {
        var name = snapshot.getMetadata().getName();
        for (var point : snapshot.getDataPoints()) {
            var labels = point.getLabels();
            if (!labels.stream().allMatch(label -> LABELS.contains(label.getName()))) {
                continue;
            }
            var metrics = byLabels.computeIfAbsent(labels, _ -> new ArrayList<>());
            switch (snapshot) {
                case CounterSnapshot _ -> {
                    double more = more(name + labels, ((CounterSnapshot.CounterDataPointSnapshot) point).getValue());
                    metrics.add(new Metric(name + "_total", "Count", DoubleNode.valueOf(more)));
                }
                case GaugeSnapshot _ -> {
                    double value = ((GaugeSnapshot.GaugeDataPointSnapshot) point).getValue();
                    if (Double.isFinite(value)) {
                        metrics.add(new Metric(name, unit(name), DoubleNode.valueOf(value)));
                    }
                }
                case HistogramSnapshot _ -> addHistogram(name, (HistogramDataPointSnapshot) point, metrics);
                default -> {
                    // Of the others, Berth has none that change.
                }
            }
        }
    }

    private void addHistogram(String name, HistogramDataPointSnapshot point, List<Metric> metrics) {
        var values = new ArrayList<Double>();
        var counts = new ArrayList<Double>();
        var buckets = point.getClassicBuckets();
        for (int i = 0; i < buckets.size(); i++) {
            double more = more(name + point.getLabels() + i, (double) buckets.getCount(i));
            // What is beyond the last bound counts as that.
            double value = buckets.getUpperBound(Math.min(i, Math.max(0, buckets.size() - 2)));
            if (more > 0 && !values.isEmpty() && values.getLast() == value) {
                counts.set(counts.size() - 1, counts.getLast() + more);
            } else if (more > 0) {
                values.add(value);
                counts.add(more);
            }
        }
        double sum = more(name + point.getLabels() + "sum", point.getSum());
        if (!values.isEmpty()) {
            var histogram = JsonNodeFactory.instance.objectNode();
            values.forEach(histogram.putArray("Values")::add);
            counts.forEach(histogram.putArray("Counts")::add);
            histogram.put("Min", values.getFirst()).put("Max", values.getLast());
            double count = counts.stream().mapToDouble(Double::doubleValue).sum();
            histogram.put("Sum", sum).put("Count", count);
            metrics.add(new Metric(name, unit(name), histogram));
        }
    }

    /// How much a counter has grown. One that is smaller than before belongs to a model that was
    /// loaded again.
    private double more(String key, double value) {
        now.put(key, value);
        double last = before.getOrDefault(key, 0.0);
        return value < last ? value : value - last;
    }

    private String document(Labels labels, List<Metric> metrics, Instant time) {
        var root = JsonNodeFactory.instance.objectNode();
        var all = new LinkedHashMap<>(dimensions);
        labels.forEach(label -> all.put(label.getName(), shown(label.getValue())));
        var aws = root.putObject("_aws").put("Timestamp", time.toEpochMilli());
        var directive = aws.putArray("CloudWatchMetrics").addObject().put("Namespace", NAMESPACE);
        var names = directive.putArray("Dimensions").addArray();
        all.keySet().forEach(names::add);
        var definitions = directive.putArray("Metrics");
        metrics.forEach(
                metric -> definitions.addObject().put("Name", metric.name).put("Unit", metric.unit));
        all.forEach(root::put);
        metrics.forEach(metric -> root.set(metric.name, metric.value));
        return JsonText.write(root);
    }

    /// The name of a model may be anything, the value of a dimension may not.
    private static String shown(String value) {
        var plain = value.replaceAll("[^ -~]", "?");
        var cut = plain.substring(0, Math.min(plain.length(), LONGEST_VALUE));
        return cut.isBlank() ? "?" : cut;
    }

    private static String unit(String name) {
        return name.endsWith("_seconds") ? "Seconds" : "Count";
    }
}
