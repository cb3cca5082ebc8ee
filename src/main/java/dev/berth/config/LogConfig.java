package dev.berth.config;

import java.util.Objects;

/// How much is logged, and how a line of the log looks.
public record LogConfig(LogLevel level, LogFormat format) {
  public LogConfig {
    Objects.requireNonNull(level, "level");
    Objects.requireNonNull(format, "format");
  }
}
