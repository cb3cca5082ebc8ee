package dev.berth.config;

import java.nio.file.Path;

/// All that the server was told, one record for each part of it.
public record ServerConfig(
    HttpConfig http,
    AsyncConfig async,
    ModelConfig model,
    MultiModelConfig multiModel,
    BatchingConfig batching,
    StreamConfig streams,
    SessionConfig sessions,
    TransformConfig transform,
    PlatformConfig platform,
    ProtocolConfig protocol,
    LogConfig log,
    TelemetryConfig telemetry) {

  static ServerConfig read(Reading reading, Path home) {
    return new ServerConfig(
        HttpConfig.read(reading),
        AsyncConfig.read(reading),
        ModelConfig.read(reading, home),
        MultiModelConfig.read(reading),
        BatchingConfig.read(reading),
        StreamConfig.read(reading),
        SessionConfig.read(reading),
        TransformConfig.read(reading),
        PlatformConfig.read(reading),
        ProtocolConfig.read(reading),
        LogConfig.read(reading),
        TelemetryConfig.read(reading));
  }
}
