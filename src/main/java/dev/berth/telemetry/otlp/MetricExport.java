package dev.berth.telemetry.otlp;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.common.InstrumentationScopeInfo;
import io.opentelemetry.sdk.metrics.data.AggregationTemporality;
import io.opentelemetry.sdk.metrics.data.DoublePointData;
import io.opentelemetry.sdk.metrics.data.HistogramPointData;
import io.opentelemetry.sdk.metrics.data.MetricData;
import io.opentelemetry.sdk.metrics.export.MetricProducer;
import io.opentelemetry.sdk.metrics.internal.data.ImmutableDoublePointData;
import io.opentelemetry.sdk.metrics.internal.data.ImmutableGaugeData;
import io.opentelemetry.sdk.metrics.internal.data.ImmutableHistogramData;
import io.opentelemetry.sdk.metrics.internal.data.ImmutableHistogramPointData;
import io.opentelemetry.sdk.metrics.internal.data.ImmutableMetricData;
import io.opentelemetry.sdk.metrics.internal.data.ImmutableSumData;
import io.opentelemetry.sdk.resources.Resource;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/// What `/metrics` has, as metrics of OpenTelemetry: the same instruments under the same names,
/// cumulative since the start.
///
/// The SDK has no public way to make such data, so the classes behind its own instruments are used.
final class MetricExport implements MetricProducer {

  private static final InstrumentationScopeInfo SCOPE =
      InstrumentationScopeInfo.create("dev.berth");

  private final Supplier<MetricSnapshots> metrics;
  private final long start = nanos();

  MetricExport(Supplier<MetricSnapshots> metrics) {
    this.metrics = metrics;
  }

  @Override
  public Collection<MetricData> produce(Resource resource) {
    long now = nanos();
    return metrics.get().stream()
        .flatMap(snapshot -> data(snapshot, resource, now).stream())
        .toList();
  }

  /// Nothing where there is no metric of such a kind in OpenTelemetry.
  private Optional<MetricData> data(MetricSnapshot snapshot, Resource resource, long now) {
    var name = snapshot.getMetadata().getName();
    var help = Optional.ofNullable(snapshot.getMetadata().getHelp()).orElse("");
    var unit = unit(name);
    return switch (snapshot) {
      case CounterSnapshot counter ->
          Optional.of(
              ImmutableMetricData.createDoubleSum(
                  resource,
                  SCOPE,
                  name,
                  help,
                  unit,
                  ImmutableSumData.create(
                      true,
                      AggregationTemporality.CUMULATIVE,
                      counter.getDataPoints().stream()
                          .map(p -> point(p.getLabels(), p.getValue(), now))
                          .toList())));
      case GaugeSnapshot gauge ->
          Optional.of(
              ImmutableMetricData.createDoubleGauge(
                  resource,
                  SCOPE,
                  name,
                  help,
                  unit,
                  ImmutableGaugeData.create(
                      gauge.getDataPoints().stream()
                          .map(p -> point(p.getLabels(), p.getValue(), now))
                          .toList())));
      case InfoSnapshot info ->
          Optional.of(
              ImmutableMetricData.createDoubleGauge(
                  resource,
                  SCOPE,
                  name + "_info",
                  help,
                  "",
                  ImmutableGaugeData.create(
                      info.getDataPoints().stream()
                          .map(p -> point(p.getLabels(), 1, now))
                          .toList())));
      case HistogramSnapshot histogram ->
          Optional.of(
              ImmutableMetricData.createDoubleHistogram(
                  resource,
                  SCOPE,
                  name,
                  help,
                  unit,
                  ImmutableHistogramData.create(
                      AggregationTemporality.CUMULATIVE,
                      histogram.getDataPoints().stream().map(p -> point(p, now)).toList())));
      // Of the JVM's pauses: how many, and how long together.
      case SummarySnapshot summary ->
          Optional.of(
              ImmutableMetricData.createDoubleHistogram(
                  resource,
                  SCOPE,
                  name,
                  help,
                  unit,
                  ImmutableHistogramData.create(
                      AggregationTemporality.CUMULATIVE,
                      summary.getDataPoints().stream()
                          .map(
                              p ->
                                  histogram(
                                      p.getLabels(),
                                      p.getSum(),
                                      List.of(),
                                      List.of(p.getCount()),
                                      now))
                          .toList())));
      default -> Optional.empty();
    };
  }

  private DoublePointData point(Labels labels, double value, long now) {
    return ImmutableDoublePointData.create(start, now, attributes(labels), value);
  }

  private HistogramPointData point(HistogramDataPointSnapshot point, long now) {
    ClassicHistogramBuckets buckets = point.getClassicBuckets();
    var bounds = new ArrayList<Double>();
    var counts = new ArrayList<Long>();
    for (int i = 0; i < buckets.size(); i++) {
      counts.add(buckets.getCount(i));
      // The last one has no upper bound.
      if (i < buckets.size() - 1) {
        bounds.add(buckets.getUpperBound(i));
      }
    }
    return histogram(point.getLabels(), point.getSum(), bounds, counts, now);
  }

  private HistogramPointData histogram(
      Labels labels, double sum, List<Double> bounds, List<Long> counts, long now) {
    return ImmutableHistogramPointData.create(
        start, now, attributes(labels), sum, false, 0, false, 0, bounds, counts);
  }

  private static Attributes attributes(Labels labels) {
    var attributes = Attributes.builder();
    labels.forEach(label -> attributes.put(label.getName(), label.getValue()));
    return attributes.build();
  }

  private static String unit(String name) {
    return name.endsWith("_seconds") || name.endsWith("_seconds_max")
        ? "s"
        : name.endsWith("_bytes") ? "By" : "";
  }

  private static long nanos() {
    var now = Instant.now();
    return TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
  }
}
