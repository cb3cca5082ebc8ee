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
import io.prometheus.metrics.model.snapshots.ClassicHistogramBucket;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.DataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// What `/metrics` has, as metrics of OpenTelemetry: the same instruments under the same names,
/// cumulative since the start.
///
/// The SDK has no public way to make such data, so the classes behind its own instruments are used.
final class MetricExport implements MetricProducer {

    private static final InstrumentationScopeInfo SCOPE = InstrumentationScopeInfo.create("dev.berth");

    private final Supplier<MetricSnapshots> metrics;
    private final long start = nanos();

    MetricExport(Supplier<MetricSnapshots> metrics) {
        this.metrics = metrics;
    }

    @Override
    public Collection<MetricData> produce(Resource resource) {
        long now = nanos();
        return metrics.get().stream()
                .flatMap(snapshot -> data(snapshot, resource, now))
                .toList();
    }

    /// Nothing where there is no metric of such a kind in OpenTelemetry.
    private Stream<MetricData> data(MetricSnapshot snapshot, Resource resource, long now) {
        var name = snapshot.getMetadata().getName() + (snapshot instanceof InfoSnapshot ? "_info" : "");
        var help = Optional.ofNullable(snapshot.getMetadata().getHelp()).orElse("");
        var head = new Head(resource, name, help, unit(name));
        return switch (snapshot) {
            case CounterSnapshot counter ->
                Stream.of(head.sum(each(counter.getDataPoints(), point -> number(point, point.getValue(), now))));
            case GaugeSnapshot gauge ->
                Stream.of(head.gauge(each(gauge.getDataPoints(), point -> number(point, point.getValue(), now))));
            case InfoSnapshot info -> Stream.of(head.gauge(each(info.getDataPoints(), point -> number(point, 1, now))));
            case HistogramSnapshot histogram ->
                Stream.of(head.histogram(each(
                        histogram.getDataPoints(),
                        point -> spread(point, point.getSum(), point.getClassicBuckets(), now))));
            // Of the JVM's pauses: how many, and how long together.
            case SummarySnapshot summary ->
                Stream.of(head.histogram(each(
                        summary.getDataPoints(), point -> spread(point, point.getSum(), only(point.getCount()), now))));
            default -> Stream.empty();
        };
    }

    private static <P, D> List<D> each(List<P> points, Function<P, D> data) {
        return points.stream().map(data).toList();
    }

    private record Head(Resource resource, String name, String help, String unit) {

        MetricData sum(List<DoublePointData> points) {
            var data = ImmutableSumData.create(true, AggregationTemporality.CUMULATIVE, points);
            return ImmutableMetricData.createDoubleSum(resource, SCOPE, name, help, unit, data);
        }

        MetricData gauge(List<DoublePointData> points) {
            var data = ImmutableGaugeData.create(points);
            return ImmutableMetricData.createDoubleGauge(resource, SCOPE, name, help, unit, data);
        }

        MetricData histogram(List<HistogramPointData> points) {
            var data = ImmutableHistogramData.create(AggregationTemporality.CUMULATIVE, points);
            return ImmutableMetricData.createDoubleHistogram(resource, SCOPE, name, help, unit, data);
        }
    }

    private DoublePointData number(DataPointSnapshot point, double value, long now) {
        return ImmutableDoublePointData.create(start, now, attributes(point), value);
    }

    private HistogramPointData spread(DataPointSnapshot point, double sum, ClassicHistogramBuckets buckets, long now) {
        var counts = buckets.stream().map(ClassicHistogramBucket::getCount).toList();
        // The last one has no upper bound.
        var bounds = buckets.stream()
                .limit(buckets.size() - 1)
                .map(ClassicHistogramBucket::getUpperBound)
                .toList();
        return ImmutableHistogramPointData.create(
                start, now, attributes(point), sum, false, 0, false, 0, bounds, counts);
    }

    private static ClassicHistogramBuckets only(long count) {
        return ClassicHistogramBuckets.of(new double[] {Double.POSITIVE_INFINITY}, new long[] {count});
    }

    private static Attributes attributes(DataPointSnapshot point) {
        var attributes = Attributes.builder();
        point.getLabels().forEach(label -> attributes.put(label.getName(), label.getValue()));
        return attributes.build();
    }

    private static String unit(String name) {
        return name.endsWith("_seconds") || name.endsWith("_seconds_max") ? "s" : name.endsWith("_bytes") ? "By" : "";
    }

    private static long nanos() {
        var now = Instant.now();
        return TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
    }
}
