package dev.berth.serving.hooks;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/// How many hooks may be stuck: of one model, which then runs no more, and of all models of the
/// process, which should then be replaced. May be used by any thread.
public final class HookLimits {

    /// More than [HookPool] runs at once where none is stuck.
    private static final int OF_ONLY_MODEL = 40;

    private static final int OF_MODEL = 8;
    private static final int OF_ALL_MODELS = 128;

    final int ofModel;
    private final int ofAll;
    final AtomicInteger stuck = new AtomicInteger();

    private HookLimits(int ofModel, int ofAll) {
        this.ofModel = ofModel;
        this.ofAll = ofAll;
    }

    public static HookLimits ofOneModel() {
        return new HookLimits(OF_ONLY_MODEL, OF_ONLY_MODEL);
    }

    public static HookLimits ofSeveralModels() {
        return new HookLimits(OF_MODEL, OF_ALL_MODELS);
    }

    public boolean areOfSeveralModels() {
        return ofModel < ofAll;
    }

    /// Why the process should be replaced; nothing where it need not be.
    public Optional<String> problem() {
        return stuck.get() < ofAll
                ? Optional.empty()
                : Optional.of("hooks do not end on any of the threads that run them");
    }
}
