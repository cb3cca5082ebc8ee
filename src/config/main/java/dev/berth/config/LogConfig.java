package dev.berth.config;

import java.util.Locale;

/// How much is logged, and how a line of the log looks.
public record LogConfig(Level level, Format format) {

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

    static LogConfig read(Reading reading) {
        return new LogConfig(
                reading.value("--log-level", pythonLevel(), Level.INFO),
                reading.value("--log-format", Syntax.oneOf(Format.class), Format.PLAIN));
    }

    /// The names, Python's other names for them, and the numbers of Python's `logging`, which the
    /// SageMaker SDK sends.
    private static Syntax<Level> pythonLevel() {
        return new Syntax<>(
                "<level>",
                "one of DEBUG, INFO, WARN, ERROR, or Python's 10, 20, 30, 40",
                text -> switch (text.toUpperCase(Locale.ROOT)) {
                    case "DEBUG", "10" -> Level.DEBUG;
                    case "INFO", "20" -> Level.INFO;
                    case "WARN", "WARNING", "30" -> Level.WARN;
                    case "ERROR", "CRITICAL", "40", "50" -> Level.ERROR;
                    default -> null;
                });
    }
}
