package dev.berth.config;

import java.util.Objects;

/// All that the server was told, one record for each part of it.
public record ServerConfig(
    HttpConfig http,
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

  public ServerConfig {
    Objects.requireNonNull(http, "http");
    Objects.requireNonNull(model, "model");
    Objects.requireNonNull(multiModel, "multiModel");
    Objects.requireNonNull(batching, "batching");
    Objects.requireNonNull(streams, "streams");
    Objects.requireNonNull(sessions, "sessions");
    Objects.requireNonNull(transform, "transform");
    Objects.requireNonNull(platform, "platform");
    Objects.requireNonNull(protocol, "protocol");
    Objects.requireNonNull(log, "log");
    Objects.requireNonNull(telemetry, "telemetry");
  }

  /// The same for another model.
  public ServerConfig with(ModelConfig another) {
    return new ServerConfig(
        http,
        another,
        multiModel,
        batching,
        streams,
        sessions,
        transform,
        platform,
        protocol,
        log,
        telemetry);
  }
}
