package dev.berth.telemetry.otlp;

import dev.berth.config.ServerConfig;
import dev.berth.config.Syntax;
import dev.berth.telemetry.Exporter;
import dev.berth.telemetry.RequestTrace;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.autoconfigure.AutoConfiguredOpenTelemetrySdk;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The SDK of OpenTelemetry, configured by the standard variables and [OtlpConfig]. Made once and
/// closed once.
public final class OtlpExport implements Exporter.Export {

    /// How long the end of the server waits for what is left to be sent.
    private static final Duration LAST_EXPORTS = Duration.ofSeconds(2);

    private static final Logger log = LoggerFactory.getLogger(OtlpExport.class);

    private final OpenTelemetrySdk sdk;
    private final Tracer tracer;
    private final LogExport logs;

    private OtlpExport(Map<String, String> properties, Supplier<MetricSnapshots> metrics) {
        sdk = AutoConfiguredOpenTelemetrySdk.builder()
                .disableShutdownHook()
                // What is customized wins over the environment.
                .addPropertiesCustomizer(_ -> properties)
                .addMeterProviderCustomizer((builder, _) -> builder.registerMetricProducer(new MetricExport(metrics)))
                .build()
                .getOpenTelemetrySdk();
        tracer = sdk.getTracer("dev.berth");
        logs = LogExport.attached(sdk.getLogsBridge());
    }

    /// Where the settings ask for it. No class of OpenTelemetry is loaded elsewhere.
    public static final class OfSettings implements Exporter {
        @Override
        public Optional<Export> start(ServerConfig config, Supplier<MetricSnapshots> metrics, Consumer<String> print) {
            var properties = OtlpConfig.properties(config);
            if (properties.isEmpty()) {
                return Optional.empty();
            }
            log.info(
                    "sends traces, metrics and logs by OTLP to {}",
                    // A password may stand in it.
                    config.find(OtlpConfig.ENDPOINT)
                            .map(uri -> Syntax.withoutUser(uri.toString()))
                            .orElse("the OTEL_EXPORTER_OTLP_…_ENDPOINT of each"));
            return Optional.of(new OtlpExport(properties, metrics));
        }
    }

    @Override
    public boolean traces() {
        return true;
    }

    /// A span of kind SERVER, below that of its caller.
    @Override
    public <R> RequestTrace begin(String method, String path, R request, BiFunction<R, String, String> header) {
        TextMapGetter<R> headers = (asked, name) -> asked == null ? null : header.apply(asked, name);
        var parent = sdk.getPropagators().getTextMapPropagator().extract(Context.root(), request, headers);
        var builder = tracer.spanBuilder(method)
                .setSpanKind(SpanKind.SERVER)
                .setAttribute("http.request.method", method)
                .setAttribute("url.path", path);
        return new RequestSpan(method, builder, parent, tracer);
    }

    /// Sends what is left, for [#LAST_EXPORTS] at most.
    @Override
    public void close() {
        logs.detach();
        long millis = LAST_EXPORTS.toMillis();
        // Before the end of all, which waits for the metrics by itself, and for longer.
        sdk.getSdkLoggerProvider().forceFlush();
        var ended = CompletableFuture.supplyAsync(
                () -> sdk.shutdown().join(millis, TimeUnit.MILLISECONDS).isSuccess(), Thread::startVirtualThread);
        if (!ended.completeOnTimeout(false, millis, TimeUnit.MILLISECONDS).join()) {
            log.warn("some traces, metrics or logs could not be sent within {} s of the end", LAST_EXPORTS.toSeconds());
        }
    }
}
