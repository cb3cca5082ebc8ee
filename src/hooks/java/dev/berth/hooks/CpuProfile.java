package dev.berth.hooks;

/// How workers share the cores of a CPU.
public enum CpuProfile {
    /// A worker for each core. A long input has the cores that are idle, every other has one.
    ADAPTIVE,
    /// One worker, which always has all cores: the shortest time for one request after another.
    LATENCY,
    /// A worker for each core, which never has more.
    THROUGHPUT
}
