package dev.berth.config;

import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// What of the server can be seen from outside, and where.
///
/// @param openTelemetry the variables of OpenTelemetry's own, `OTEL_…`
/// @param metricsDimensions what is on all printed metrics, by name
public record TelemetryConfig(
    Optional<URI> otlpEndpoint,
    Map<String, String> openTelemetry,
    Metrics metricsFormat,
    Duration metricsInterval,
    Map<String, String> metricsDimensions,
    Aliases metricsAliases) {

  /// Where metrics go besides the path of the metrics.
  public enum Metrics {
    /// Nowhere.
    PROMETHEUS,
    /// To stdout, in CloudWatch's Embedded Metric Format.
    EMF
  }

  /// Whether metrics are there under names of another server too.
  public enum Aliases {
    NONE,
    VLLM
  }

  /// The signals of OpenTelemetry as its variables spell them.
  public static final List<String> SIGNALS = List.of("TRACES", "METRICS", "LOGS");

  /// CloudWatch's own rules for a name and a value.
  private static final Pattern DIMENSION =
      Pattern.compile("((?!_aws=)[!-9;-<>-~][!-<>-~]{0,254})=([!-~][ -~]{0,1023})");

  /// Of the 30 that CloudWatch takes, two are left for the server's own.
  private static final int MOST_DIMENSIONS = 28;

  static TelemetryConfig read(Reading reading) {
    var config =
        new TelemetryConfig(
            reading.optional(
                "--otlp-endpoint",
                Syntax.httpAddress("http://collector:4318"),
                "not set: nothing is sent",
                "OpenTelemetry collector that gets traces, metrics and logs by OTLP over HTTP;"
                    + " other OTEL_ variables are read too",
                "BERTH_OTLP_ENDPOINT",
                "OTEL_EXPORTER_OTLP_ENDPOINT"),
            reading.environment().entrySet().stream()
                .filter(
                    variable ->
                        variable.getKey().startsWith("OTEL_") && !variable.getValue().isBlank())
                .collect(
                    Collectors.toUnmodifiableMap(
                        Map.Entry::getKey, variable -> variable.getValue().strip())),
            reading.fixed(
                "--metrics-format",
                Syntax.oneOf(Metrics.class),
                Metrics.PROMETHEUS,
                "prometheus: metrics are at their path only; emf: they are printed too, in"
                    + " CloudWatch's Embedded Metric Format"),
            reading.fixed(
                "--metrics-interval-seconds",
                Syntax.seconds(1),
                Duration.ofSeconds(60),
                "How often metrics are printed with --metrics-format emf"),
            reading.fixed(
                "--metrics-dimensions",
                dimensions(),
                Map.of(),
                "Dimensions of all printed metrics, such as"
                    + " EndpointName=demo,VariantName=AllTraffic; SageMaker does not tell a"
                    + " container these"),
            reading.fixed(
                "--metrics-aliases",
                Syntax.oneOf(Aliases.class),
                Aliases.NONE,
                "vllm: some metrics are there under vLLM's names too, for dashboards made for it"));
    config.openTelemetry.forEach(
        (name, value) -> {
          // With gRPC there would be a second HTTP client in the server.
          if (name.matches("OTEL_EXPORTER_OTLP_([A-Z]+_)?PROTOCOL")
              && !value.equals("http/protobuf")) {
            reading.problem(
                "%s: found %s, expected http/protobuf, mostly at port 4318".formatted(name, value));
          }
        });
    if (config.metricsDimensions.containsKey("model")) {
      reading.problem(
          "metrics-dimensions: found model, expected another name; each model has its own already");
    }
    return config;
  }

  /// Whether anything is sent by OpenTelemetry.
  public boolean usesOpenTelemetry() {
    return !"true".equalsIgnoreCase(openTelemetry.get("OTEL_SDK_DISABLED"))
        && SIGNALS.stream().anyMatch(this::hasEndpoint);
  }

  /// The endpoint for the log: a password may stand in it.
  public Optional<String> shownEndpoint() {
    return otlpEndpoint.map(uri -> Syntax.withoutUser(uri.toString()));
  }

  /// Whether a signal has somewhere to go.
  public boolean hasEndpoint(String signal) {
    return otlpEndpoint.isPresent()
        || openTelemetry.containsKey("OTEL_EXPORTER_OTLP_%s_ENDPOINT".formatted(signal));
  }

  /// Names and values, with commas between the pairs.
  private static Syntax<Map<String, String>> dimensions() {
    return new Syntax<>(
        "<name=value,...>",
        "at most %d pairs such as EndpointName=demo of ASCII characters, with commas between them"
            .formatted(MOST_DIMENSIONS),
        text -> {
          var pairs = new LinkedHashMap<String, String>();
          for (var pair : text.split(",", -1)) {
            var parts = DIMENSION.matcher(pair.strip());
            if (!parts.matches() || pairs.put(parts.group(1), parts.group(2)) != null) {
              return Optional.empty();
            }
          }
          return pairs.size() > MOST_DIMENSIONS ? Optional.empty() : Optional.of(pairs);
        },
        pairs ->
            pairs.isEmpty()
                ? "none"
                : pairs.entrySet().stream()
                    .map(Map.Entry::toString)
                    .collect(Collectors.joining(",")));
  }
}
