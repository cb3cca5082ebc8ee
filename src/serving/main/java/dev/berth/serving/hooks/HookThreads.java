package dev.berth.serving.hooks;

import dev.berth.batching.SharedThreads;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/// The threads of the hooks of all models of the process, and how many hooks may be stuck: of one model,
/// which then runs no more, and of all, which should then be replaced. May be used by any thread.
public final class HookThreads {

    /// Hooks that run at once, beside those that run for long or wait: more of them take the cores from
    /// each other.
    static final int PLACES = Math.min(32, Runtime.getRuntime().availableProcessors() + 2);

    /// Hooks may wait for other services.
    private static final Duration PATIENCE = Duration.ofMillis(10);

    /// More than a lane of [HookPool] runs at once where none is stuck.
    private static final int OF_ONLY_MODEL = 40;

    private static final int OF_MODEL = 8;
    private static final int OF_ALL_MODELS = 128;

    final SharedThreads shared = new SharedThreads(
            PLACES,
            PATIENCE,
            Thread.ofPlatform()
                    .name("berth-hook-", 0)
                    .daemon()
                    .inheritInheritableThreadLocals(false)
                    .factory());
    public final boolean areOfSeveralModels;
    final int mostStuck;

    /// Hooks on the threads of requests. Those of all others need a core too.
    final Semaphore inline = new Semaphore(Runtime.getRuntime().availableProcessors() - 1);

    private final int mostStuckOfAll;
    final AtomicInteger stuck = new AtomicInteger();

    private HookThreads(int mostStuck, int mostStuckOfAll) {
        this.mostStuck = mostStuck;
        this.mostStuckOfAll = mostStuckOfAll;
        this.areOfSeveralModels = mostStuck < mostStuckOfAll;
    }

    public static HookThreads ofOneModel() {
        return new HookThreads(OF_ONLY_MODEL, OF_ONLY_MODEL);
    }

    public static HookThreads ofSeveralModels() {
        return new HookThreads(OF_MODEL, OF_ALL_MODELS);
    }

    /// Why the process should be replaced; nothing where it need not be.
    public Optional<String> problem() {
        return stuck.get() < mostStuckOfAll
                ? Optional.empty()
                : Optional.of("hooks do not end on any of the threads that run them");
    }
}
