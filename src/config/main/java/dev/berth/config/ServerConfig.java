package dev.berth.config;

import java.nio.file.Path;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// All that the server was told, one record for each part of it.
///
/// @param parts the others by their class: sessions, logs and the like, and those of the extensions
public record ServerConfig(
        HttpConfig http,
        ModelConfig model,
        MultiModelConfig multiModel,
        BatchingConfig batching,
        TransformConfig transform,
        Map<Class<?>, Record> parts) {

    static ServerConfig read(Reading reading, Path home) {
        return new ServerConfig(
                HttpConfig.read(reading),
                ModelConfig.read(reading, home),
                MultiModelConfig.read(reading),
                BatchingConfig.read(reading),
                TransformConfig.read(reading),
                Stream.concat(
                                Stream.of(
                                        StreamConfig.read(reading),
                                        SessionConfig.read(reading),
                                        PlatformConfig.of(reading.environment()),
                                        LogConfig.read(reading),
                                        MetricsConfig.read(reading)),
                                ExtensionSettings.ALL.stream().map(extension -> extension.read(reading)))
                        .collect(Collectors.toUnmodifiableMap(Record::getClass, Function.identity())));
    }

    /// One of the other parts.
    ///
    /// @param type of the record: one of this package, or what an [ExtensionSettings] reads
    public <T extends Record> T of(Class<T> type) {
        return type.cast(parts.get(type));
    }
}
