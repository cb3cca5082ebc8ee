package dev.berth.telemetry.emf;

import dev.berth.config.ExtensionSettings;
import dev.berth.config.Reading;
import dev.berth.config.Syntax;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Whether and how often metrics are printed.
///
/// @param dimensions what is on all of them, by name
record EmfConfig(Format format, Duration interval, Map<String, String> dimensions) {

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

    /// Reads them.
    public static final class Settings implements ExtensionSettings {
        @Override
        public Record read(Reading reading) {
            var config = new EmfConfig(
                    reading.value("--metrics-format", Syntax.oneOf(Format.class), Format.PROMETHEUS),
                    reading.value("--metrics-interval-seconds", Syntax.seconds(1), Duration.ofSeconds(60)),
                    reading.value("--metrics-dimensions", pairs(), Map.of()));
            if (config.dimensions.containsKey("model")) {
                reading.problem(
                        "metrics-dimensions: found model, expected another name; each model has its own already");
            }
            return config;
        }
    }

    /// Names and values, with commas between the pairs.
    private static Syntax<Map<String, String>> pairs() {
        return new Syntax<Map<String, String>>(
                        "<name=value,...>",
                        "at most %d pairs such as EndpointName=demo of ASCII characters, with commas between them"
                                .formatted(MOST_DIMENSIONS),
                        text -> {
                            var pairs = new LinkedHashMap<String, String>();
                            for (var pair : text.split(",", -1)) {
                                var parts = DIMENSION.matcher(pair.strip());
                                if (!parts.matches() || pairs.put(parts.group(1), parts.group(2)) != null) {
                                    return null;
                                }
                            }
                            return pairs;
                        })
                .where(pairs -> pairs.size() <= MOST_DIMENSIONS)
                .shown(pairs -> pairs.isEmpty()
                        ? "none"
                        : pairs.entrySet().stream().map(Map.Entry::toString).collect(Collectors.joining(",")));
    }
}
