package dev.berth.telemetry.otlp;

import dev.berth.config.Findings;
import dev.berth.config.ServerConfig;
import dev.berth.config.Setting;
import dev.berth.config.SettingGroup;
import dev.berth.config.Settings;
import dev.berth.config.Syntax;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/// Where traces, metrics and logs are sent.
///
/// @param openTelemetry the variables of OpenTelemetry's own, `OTEL_…`
record OtlpConfig(Optional<URI> endpoint, Map<String, String> openTelemetry) {

    /// The signals of OpenTelemetry as its variables spell them.
    static final List<String> SIGNALS = List.of("TRACES", "METRICS", "LOGS");

    /// Its setting, beside the variables.
    public static final class Group implements SettingGroup {

        private static final Settings SETTINGS = new Settings(Group.class);
        private static final Setting<URI> ENDPOINT =
                SETTINGS.of("otlp-endpoint", Syntax.httpAddress("http://collector:4318"));

        @Override
        public Settings settings() {
            return SETTINGS;
        }

        @Override
        public void check(ServerConfig config, Findings findings) {
            of(config).openTelemetry.forEach((name, value) -> {
                // With gRPC there would be a second HTTP client in the server.
                if (name.matches("OTEL_EXPORTER_OTLP_([A-Z]+_)?PROTOCOL") && !value.equals("http/protobuf")) {
                    findings.problem(
                            "%s: found %s, expected http/protobuf, mostly at port 4318".formatted(name, value));
                }
            });
        }
    }

    static OtlpConfig of(ServerConfig config) {
        return new OtlpConfig(
                config.find(Group.ENDPOINT),
                config.platform().environment().entrySet().stream()
                        .filter(variable -> variable.getKey().startsWith("OTEL_")
                                && !variable.getValue().isBlank())
                        .collect(Collectors.toUnmodifiableMap(
                                Map.Entry::getKey,
                                variable -> variable.getValue().strip())));
    }

    /// Whether anything is sent.
    boolean isOn() {
        return !"true".equalsIgnoreCase(openTelemetry.get("OTEL_SDK_DISABLED"))
                && SIGNALS.stream().anyMatch(this::hasEndpoint);
    }

    /// The endpoint for the log: a password may stand in it.
    Optional<String> shownEndpoint() {
        return endpoint.map(uri -> Syntax.withoutUser(uri.toString()));
    }

    /// Whether a signal has somewhere to go.
    boolean hasEndpoint(String signal) {
        return endpoint.isPresent() || openTelemetry.containsKey("OTEL_EXPORTER_OTLP_%s_ENDPOINT".formatted(signal));
    }
}
