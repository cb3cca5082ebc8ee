package dev.berth.telemetry.emf;

import dev.berth.config.Findings;
import dev.berth.config.ServerConfig;
import dev.berth.config.Setting;
import dev.berth.config.SettingGroup;
import dev.berth.config.Settings;
import dev.berth.config.Syntax;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Whether and how often metrics are printed.
public final class EmfConfig implements SettingGroup {

    private static final Settings SETTINGS = Settings.of(EmfConfig.class);

    /// Where metrics go besides the path of the metrics.
    enum Format {
        /// Nowhere.
        PROMETHEUS,
        /// To stdout, in CloudWatch's Embedded Metric Format.
        EMF
    }

    /// CloudWatch's own rules for a name and a value.
    private static final Pattern DIMENSION =
            Pattern.compile("((?!_aws=)[!-9;-<>-~][!-<>-~]{0,254})=([!-~][ -~]{0,1023})");

    /// Of the 30 that CloudWatch takes, two are left for the server's own.
    private static final int MOST_DIMENSIONS = 28;

    static final Setting<Format> FORMAT = SETTINGS.of("metrics-format", Syntax.oneOf(Format.class));
    static final Setting<Duration> INTERVAL = SETTINGS.of("metrics-interval-seconds", Syntax.seconds(1));

    /// What is on all of them, by name.
    static final Setting<Map<String, String>> DIMENSIONS = SETTINGS.of(
            "metrics-dimensions",
            new Syntax<>(
                            "<name=value,...>",
                            "at most %d pairs such as EndpointName=demo of ASCII characters, with commas between them"
                                    .formatted(MOST_DIMENSIONS),
                            EmfConfig::pairs)
                    .shown(pairs ->
                            pairs.entrySet().stream().map(Map.Entry::toString).collect(Collectors.joining(","))));

    @Override
    public void check(ServerConfig config, Findings findings) {
        if (config.find(DIMENSIONS).orElse(Map.of()).containsKey("model")) {
            findings.problem("metrics-dimensions: found model, expected another name; each model has its own already");
        }
    }

    /// Null: it is none of that.
    private static Map<String, String> pairs(String text) {
        var pairs = new LinkedHashMap<String, String>();
        for (var pair : text.split(",", -1)) {
            var parts = DIMENSION.matcher(pair.strip());
            if (!parts.matches() || pairs.put(parts.group(1), parts.group(2)) != null) {
                return null;
            }
        }
        return pairs.size() <= MOST_DIMENSIONS ? pairs : null;
    }
}
