package dev.berth.config;

/// How workers share the cores of a CPU.
public enum CpuProfile {
  /// A worker for each core; a lone request has all cores, and each of many has one.
  ADAPTIVE,
  /// One worker, which always has all cores: the shortest time for one request after another.
  LATENCY,
  /// A worker for each core, which never has more: the most answers a second.
  THROUGHPUT
}
