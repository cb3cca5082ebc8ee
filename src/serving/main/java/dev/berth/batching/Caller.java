package dev.berth.batching;

import dev.berth.telemetry.RequestTrace;
import java.util.Map;
import java.util.function.BooleanSupplier;

/// Who waits for predictions.
///
/// @param hasGone whether the caller has gone away; a worker asks before the records are predicted.
///   It must not block
/// @param logContext what stands on the log lines of the request; a batch's lines have that of all
///   its requests
/// @param trace of the request
public record Caller(BooleanSupplier hasGone, Map<String, String> logContext, RequestTrace trace) {}
