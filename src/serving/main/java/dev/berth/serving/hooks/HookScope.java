package dev.berth.serving.hooks;

import dev.berth.metrics.ModelMetrics;

/// What the hooks of one model have in common: where they find classes, their metrics, and how many
/// of them have their turn, read and are stuck. The monitor of the [HookPool] guards what changes.
public final class HookScope {

    /// Where libraries that look for services find those of the hooks.
    final ClassLoader classes;

    /// Counts the hooks that run, those left behind included.
    public final InFlight inside;

    final ModelMetrics metrics;

    int turns;
    int largeTurns;
    int reading;

    /// Read without the monitor too.
    volatile int stuck;

    public HookScope(ClassLoader classes, InFlight inside, ModelMetrics metrics) {
        this.classes = classes;
        this.inside = inside;
        this.metrics = metrics;
    }
}
