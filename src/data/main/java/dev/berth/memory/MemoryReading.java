package dev.berth.memory;

/// What one memory has left, when somebody looked.
///
/// @param free in bytes; less than zero where more is taken than should be
/// @param total all of it, in bytes
/// @param source what says so, such as `cgroup`, `machine` or `gpu 0`
public record MemoryReading(long free, long total, String source) {

    /// Less for those that ask, such as for what somebody else is about to take.
    public MemoryReading minus(long bytes) {
        return new MemoryReading(free - bytes, total, source);
    }

    /// Such as `12 MB free of 512 MB (cgroup)`.
    @Override
    public String toString() {
        return "%d MB free of %d MB (%s)".formatted(Math.max(0, free) >> 20, total >> 20, source);
    }
}
