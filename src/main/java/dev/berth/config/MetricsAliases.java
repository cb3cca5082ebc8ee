package dev.berth.config;

/// Whether metrics are there under names of another server too.
public enum MetricsAliases {
  NONE,
  VLLM
}
