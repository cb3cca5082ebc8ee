package dev.berth.config;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/// What of the server can be seen from outside, and where.
///
/// @param otlpEndpoint the collector that gets traces, metrics and logs
/// @param openTelemetry the variables of OpenTelemetry's own, `OTEL_…`
/// @param metricsInterval how often metrics are printed
/// @param metricsDimensions what is on all printed metrics, by name
public record TelemetryConfig(
    Optional<URI> otlpEndpoint,
    Map<String, String> openTelemetry,
    MetricsFormat metricsFormat,
    Duration metricsInterval,
    Map<String, String> metricsDimensions,
    MetricsAliases metricsAliases) {

  /// The signals of OpenTelemetry as its variables spell them.
  public static final List<String> SIGNALS = List.of("TRACES", "METRICS", "LOGS");

  public TelemetryConfig {
    Objects.requireNonNull(otlpEndpoint, "otlpEndpoint");
    openTelemetry = Map.copyOf(openTelemetry);
    Objects.requireNonNull(metricsFormat, "metricsFormat");
    Require.atLeast("metricsInterval", metricsInterval.toMillis(), 1);
    metricsDimensions = Map.copyOf(metricsDimensions);
    Objects.requireNonNull(metricsAliases, "metricsAliases");
  }

  /// Whether anything is sent by OpenTelemetry.
  public boolean usesOpenTelemetry() {
    return !"true".equalsIgnoreCase(openTelemetry.get("OTEL_SDK_DISABLED"))
        && SIGNALS.stream().anyMatch(this::hasEndpoint);
  }

  /// Whether a signal has somewhere to go.
  public boolean hasEndpoint(String signal) {
    return otlpEndpoint.isPresent()
        || openTelemetry.containsKey("OTEL_EXPORTER_OTLP_%s_ENDPOINT".formatted(signal));
  }
}
