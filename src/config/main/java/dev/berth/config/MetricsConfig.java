package dev.berth.config;

/// The metrics that Prometheus asks for.
public record MetricsConfig(String path, Aliases aliases) {

    /// Whether metrics are there under names of another server too.
    public enum Aliases {
        NONE,
        VLLM
    }

    static MetricsConfig read(Reading reading) {
        return new MetricsConfig(
                path(reading), reading.value("--metrics-aliases", Syntax.oneOf(Aliases.class), Aliases.NONE));
    }

    private static String path(Reading reading) {
        // The pattern of `MetricsEndpoint.MetricsPath` in the SageMaker API.
        var syntax = Syntax.matching(
                "<path>",
                "a path of letters, digits and / _ . - that starts with /, without .. and of at most"
                        + " 256 characters",
                "/(?!.*\\.\\.)[a-zA-Z0-9/_.\\-]{1,255}");
        var path = reading.value("--metrics-path", syntax, "/metrics");
        reading.claim("metrics-path", path, "a path of its own; the server has a route there");
        return path;
    }
}
