package dev.berth.serving;

import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.hooks.HookLimits;
import java.util.List;
import java.util.Optional;

/// What `/ping` says: whether this process can answer requests, or should be replaced. May be used
/// by any thread, and never waits. **A new reason is a [HealthProbe] in the list.**
public final class Health {

    private final List<HealthProbe> probes;
    private volatile boolean stopping;

    /// @param models why they can't answer any more
    public Health(ServingMetrics metrics, HookLimits hooks, HealthProbe models) {
        this.probes = List.of(new HeapWatch(metrics), hooks::problem, models);
    }

    /// Why it can't; nothing where it can. The first probe that has a problem says so.
    public Optional<String> problem() {
        return stopping
                ? Optional.of("the server is stopping")
                : probes.stream().flatMap(probe -> probe.problem().stream()).findFirst();
    }

    /// Has all probes take their samples.
    public void look() {
        probes.forEach(HealthProbe::look);
    }

    /// Says from now on that it can't, whatever the models do.
    public void stop() {
        stopping = true;
    }

    public boolean isStopping() {
        return stopping;
    }
}
