package dev.berth.engine.cores;

import dev.berth.hooks.Accelerator;
import java.util.function.IntFunction;

/// Runs the forwards of one graph on the cores of the CPU, beside those of all other graphs of the
/// process. Used by many threads.
public final class Cores {

    private static final CoreShares SHARES = new CoreShares();

    private final HelperThreads helpers;
    private final Speedup speedup = new Speedup();

    public Cores(HelperThreads helpers) {
        this.helpers = helpers;
    }

    /// Waits for a core and runs a forward, on several cores where the CPU's profile allows it and
    /// they are faster. Throws what the forward throws.
    ///
    /// @param most the cores that the forward can use well
    /// @param elements of its input
    /// @param forward is told how many cores it may use
    public <T> T run(Accelerator.Cpu cpu, int most, long elements, IntFunction<T> forward) {
        int wanted = switch (cpu.profile()) {
            case ADAPTIVE -> speedup.isWorthwhile() ? most : 1;
            case LATENCY -> cpu.cores();
            case THROUGHPUT -> 1;
        };
        try (var team = SHARES.begin(cpu.cores(), wanted, helpers)) {
            long begin = System.nanoTime();
            var result = team.run(forward);
            if (most > 1) {
                speedup.record(team.cores, elements, System.nanoTime() - begin);
            }
            return result;
        }
    }
}
