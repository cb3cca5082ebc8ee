package dev.berth.config;

/// Whether metrics are there under names of another server too.
public enum MetricsAliases {
    NONE,
    VLLM;

    static MetricsAliases read(Reading reading) {
        return reading.value("--metrics-aliases", Syntax.oneOf(MetricsAliases.class), NONE);
    }
}
