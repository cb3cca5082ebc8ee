package dev.berth.serving;

import dev.berth.batching.BatchLimits;
import dev.berth.batching.WorkerPool;
import dev.berth.hooks.InferenceHandler;
import dev.berth.serving.hooks.FirstRequest;
import dev.berth.serving.sessions.SessionRoom;
import java.nio.file.Path;

/// What a model is loaded from, and onto.
///
/// @param directory the artifact's
/// @param handler closed with the model
/// @param workers shared with the other models
/// @param first asked of what `modelFn` returns for each worker
/// @param sessions of all models
public record ModelPlan<M, I, O>(
        Path directory,
        InferenceHandler<M, I, O> handler,
        WorkerPool workers,
        BatchLimits limits,
        FirstRequest first,
        SessionRoom sessions) {}
