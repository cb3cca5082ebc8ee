package dev.berth.config;

import java.util.Locale;
import java.util.Optional;

/// How the server is watched: its log, and the metrics that Prometheus asks for.
public final class MonitoringConfig implements SettingGroup {

    private static final Settings SETTINGS = Settings.of(MonitoringConfig.class);

    /// The least serious events that are logged.
    public enum Level {
        DEBUG,
        INFO,
        WARN,
        ERROR
    }

    /// How a line of the log looks.
    public enum Format {
        /// For people.
        PLAIN,
        /// One JSON object per line, for CloudWatch Logs Insights and its like.
        JSON
    }

    /// Whether metrics are there under names of another server too.
    public enum Aliases {
        NONE,
        VLLM
    }

    /// The names, Python's other names for them, and the numbers of Python's `logging`, which the
    /// SageMaker SDK sends.
    private static final Syntax<Level> LEVEL = new Syntax<>(
            "<level>", "one of DEBUG, INFO, WARN, ERROR, or Python's 10, 20, 30, 40", text -> switch (text.toUpperCase(
                    Locale.ROOT)) {
                case "DEBUG", "10" -> Level.DEBUG;
                case "INFO", "20" -> Level.INFO;
                case "WARN", "WARNING", "30" -> Level.WARN;
                case "ERROR", "CRITICAL", "40", "50" -> Level.ERROR;
                default -> null;
            });

    public static final Setting<Level> LOG_LEVEL = SETTINGS.of("log-level", LEVEL);
    public static final Setting<Format> LOG_FORMAT = SETTINGS.of("log-format", Syntax.oneOf(Format.class));

    /// The pattern of `MetricsEndpoint.MetricsPath` in the SageMaker API.
    public static final Setting<String> METRICS_PATH = SETTINGS.of(
            "metrics-path",
            Syntax.matching(
                    "<path>",
                    "a path of letters, digits and / _ . - that starts with /, without .. and of at most 256 characters",
                    "/(?!.*\\.\\.)[a-zA-Z0-9/_.\\-]{1,255}"));

    public static final Setting<Aliases> METRICS_ALIASES = SETTINGS.of("metrics-aliases", Syntax.oneOf(Aliases.class));

    @Override
    public void check(ServerConfig config, Findings findings) {
        findings.claim(METRICS_PATH, Optional.of(config.get(METRICS_PATH)));
    }
}
