package dev.berth.config;

/// How a line of the log looks.
public enum LogFormat {
  /// For people.
  PLAIN,
  /// One JSON object per line, for CloudWatch Logs Insights and its like.
  JSON
}
