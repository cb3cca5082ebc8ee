package dev.berth.config;

/// The least serious events that are logged.
public enum LogLevel {
  DEBUG,
  INFO,
  WARN,
  ERROR
}
