package dev.berth.serving;

import dev.berth.hooks.InvocationResponse;
import java.time.Duration;

/// An answered request, and where its time went.
///
/// @param records how many records it had
/// @param queued how long its last record waited for a worker
/// @param predicted how long the batch of its last record took
public record Invocation(
    InvocationResponse response, int records, Duration decoded, Duration queued, Duration predicted, Duration encoded) {}
