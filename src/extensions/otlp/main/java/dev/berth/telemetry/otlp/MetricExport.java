package dev.berth.telemetry.otlp;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.sdk.common.Clock;
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
import io.prometheus.metrics.model.snapshots.DistributionDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.prometheus.metrics.model.snapshots.SummarySnapshot;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
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
    private final long start = Clock.getDefault().now();

    MetricExport(Supplier<MetricSnapshots> metrics) {
        this.metrics = metrics;
    }

    @Override
    public Collection<MetricData> produce(Resource resource) {
        long now = Clock.getDefault().now();
        return metrics.get().stream()
                .flatMap(snapshot -> data(snapshot, resource, now))
                .toList();
    }

    /// Nothing where there is no metric of such a kind in OpenTelemetry.
    private Stream<MetricData> data(MetricSnapshot snapshot, Resource resource, long now) {
        var name = snapshot.getMetadata().getName() + (snapshot instanceof InfoSnapshot ? "_info" : "");
        var help = Optional.ofNullable(snapshot.getMetadata().getHelp()).orElse("");
        var unit = unit(name);
        return switch (snapshot) {
            case CounterSnapshot counter -> {
                var points = each(counter.getDataPoints(), point -> number(point, point.getValue(), now));
                var sum = ImmutableSumData.create(true, AggregationTemporality.CUMULATIVE, points);
                yield Stream.of(ImmutableMetricData.createDoubleSum(resource, SCOPE, name, help, unit, sum));
            }
            case GaugeSnapshot _, InfoSnapshot _ -> {
                var points = each(
                        snapshot.getDataPoints(),
                        point -> number(
                                point, point instanceof GaugeDataPointSnapshot gauge ? gauge.getValue() : 1, now));
                var gauge = ImmutableGaugeData.create(points);
                yield Stream.of(ImmutableMetricData.createDoubleGauge(resource, SCOPE, name, help, unit, gauge));
            }
            // The summaries are the JVM's pauses: how many, and how long together.
            case HistogramSnapshot _, SummarySnapshot _ -> {
                var points =
                        each(snapshot.getDataPoints(), point -> spread((DistributionDataPointSnapshot) point, now));
                var histogram = ImmutableHistogramData.create(AggregationTemporality.CUMULATIVE, points);
                yield Stream.of(
                        ImmutableMetricData.createDoubleHistogram(resource, SCOPE, name, help, unit, histogram));
            }
            default -> Stream.empty();
        };
    }

    private static <P, D> List<D> each(List<P> points, Function<P, D> data) {
        return points.stream().map(data).toList();
    }

    private DoublePointData number(DataPointSnapshot point, double value, long now) {
        return ImmutableDoublePointData.create(start, now, attributes(point), value);
    }

    private HistogramPointData spread(DistributionDataPointSnapshot point, long now) {
        var buckets = point instanceof HistogramDataPointSnapshot histogram
                ? histogram.getClassicBuckets()
                : ClassicHistogramBuckets.of(new double[] {Double.POSITIVE_INFINITY}, new long[] {point.getCount()});
        var counts = buckets.stream().map(ClassicHistogramBucket::getCount).toList();
        // The last one has no upper bound.
        var bounds = buckets.stream()
                .limit(buckets.size() - 1)
                .map(ClassicHistogramBucket::getUpperBound)
                .toList();
        return ImmutableHistogramPointData.create(
                start, now, attributes(point), point.getSum(), false, 0, false, 0, bounds, counts);
    }

    private static Attributes attributes(DataPointSnapshot point) {
        var attributes = Attributes.builder();
        point.getLabels().forEach(label -> attributes.put(label.getName(), label.getValue()));
        return attributes.build();
    }

    private static String unit(String name) {
        return name.endsWith("_seconds") || name.endsWith("_seconds_max") ? "s" : name.endsWith("_bytes") ? "By" : "";
    }
}
