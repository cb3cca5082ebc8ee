package dev.berth.config;

import java.nio.file.Path;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/// All that the server was told, one record for each part of it.
///
/// @param extensions those of the extensions, by their class
public record ServerConfig(
        HttpConfig http,
        ModelConfig model,
        MultiModelConfig multiModel,
        BatchingConfig batching,
        StreamConfig streams,
        SessionConfig sessions,
        TransformConfig transform,
        PlatformConfig platform,
        LogConfig log,
        MetricsAliases metricsAliases,
        Map<Class<?>, Record> extensions) {

    /// Whether metrics are there under names of another server too.
    public enum MetricsAliases {
        NONE,
        VLLM
    }

    static ServerConfig read(Reading reading, Path home) {
        return new ServerConfig(
                HttpConfig.read(reading),
                ModelConfig.read(reading, home),
                MultiModelConfig.read(reading),
                BatchingConfig.read(reading),
                StreamConfig.read(reading),
                SessionConfig.read(reading),
                TransformConfig.read(reading),
                PlatformConfig.of(reading.environment()),
                LogConfig.read(reading),
                reading.value("--metrics-aliases", Syntax.oneOf(MetricsAliases.class), MetricsAliases.NONE),
                ExtensionSettings.ALL.stream()
                        .map(extension -> extension.read(reading))
                        .collect(Collectors.toUnmodifiableMap(Record::getClass, Function.identity())));
    }

    /// What an extension was told.
    ///
    /// @param type what its [ExtensionSettings] read
    public <T extends Record> T of(Class<T> type) {
        return type.cast(extensions.get(type));
    }
}
