package dev.berth.telemetry.otlp;

import dev.berth.config.Findings;
import dev.berth.config.ServerConfig;
import dev.berth.config.Setting;
import dev.berth.config.SettingGroup;
import dev.berth.config.Settings;
import dev.berth.config.Syntax;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/// Where traces, metrics and logs are sent: a setting, beside the variables of OpenTelemetry's own,
/// `OTEL_…`.
public final class OtlpConfig implements SettingGroup {

    private static final Settings SETTINGS = Settings.of(OtlpConfig.class);

    static final Setting<URI> ENDPOINT = SETTINGS.of("otlp-endpoint", Syntax.httpAddress("http://collector:4318"));

    @Override
    public void check(ServerConfig config, Findings findings) {
        variables(config).forEach((name, value) -> {
            // With gRPC there would be a second HTTP client in the server.
            if (name.matches("OTEL_EXPORTER_OTLP_([A-Z]+_)?PROTOCOL") && !value.equals("http/protobuf")) {
                findings.problem("%s: found %s, expected http/protobuf, mostly at port 4318".formatted(name, value));
            }
        });
    }

    private static Map<String, String> variables(ServerConfig config) {
        return config.platform().environment().entrySet().stream()
                .filter(variable -> variable.getKey().startsWith("OTEL_")
                        && !variable.getValue().isBlank())
                .collect(Collectors.toUnmodifiableMap(
                        Map.Entry::getKey, variable -> variable.getValue().strip()));
    }

    /// Properties of the SDK: the variables that are set, and what holds where they are not. A signal
    /// without an endpoint is not sent. Empty where none has one.
    static Map<String, String> properties(ServerConfig config) {
        var variables = variables(config);
        var unsent = List.of("TRACES", "METRICS", "LOGS").stream()
                .filter(signal -> config.find(ENDPOINT).isEmpty()
                        && !variables.containsKey("OTEL_EXPORTER_OTLP_%s_ENDPOINT".formatted(signal)))
                .toList();
        if (unsent.size() == 3 || "true".equalsIgnoreCase(variables.get("OTEL_SDK_DISABLED"))) {
            return Map.of();
        }
        var properties = new HashMap<>(Map.of("otel.exporter.otlp.protocol", "http/protobuf"));
        if (!variables.getOrDefault("OTEL_RESOURCE_ATTRIBUTES", "").contains("service.name=")) {
            properties.put("otel.service.name", "berth");
        }
        unsent.forEach(signal -> properties.put("otel.%s.exporter".formatted(signal.toLowerCase(Locale.ROOT)), "none"));
        variables.forEach(
                (name, value) -> properties.put(name.toLowerCase(Locale.ROOT).replace('_', '.'), value));
        config.find(ENDPOINT).ifPresent(endpoint -> properties.put("otel.exporter.otlp.endpoint", endpoint.toString()));
        return properties;
    }
}
