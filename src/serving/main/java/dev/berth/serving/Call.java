package dev.berth.serving;

import dev.berth.batching.Caller;
import dev.berth.memory.RequestMemory;
import dev.berth.serving.hooks.Deadline;
import dev.berth.telemetry.RequestTrace;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/// What a request brings with it: who asks, until when, and what the answer may take.
///
/// @param memory what the request takes of the memory of all
/// @param streams for answers that may leave part by part; nothing: the answer is whole
/// @param dialect what the caller speaks where hooks don't
public record Call(
        Deadline deadline, RequestMemory memory, Caller caller, Optional<StreamLimits> streams, Dialect dialect) {

    /// Of a caller who speaks as the hooks do, and wants the whole answer at once.
    ///
    /// @param callerHasGone asked before the model is; it must not block
    /// @param logContext what stands on the log lines of the request
    public static Call of(
            Deadline deadline,
            RequestMemory memory,
            BooleanSupplier callerHasGone,
            Map<String, String> logContext,
            RequestTrace trace) {
        return new Call(deadline, memory, new Caller(callerHasGone, logContext, trace), Optional.empty(), Dialect.NONE);
    }

    public Call in(Dialect spoken) {
        return new Call(deadline, memory, caller, streams, spoken);
    }

    public Call streaming(Optional<StreamLimits> limits) {
        return new Call(deadline, memory, caller, limits, dialect);
    }
}
