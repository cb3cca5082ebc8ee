package dev.berth.serving;

import java.time.Duration;

/// An answered request, and where its time went.
///
/// @param records how many records it had
/// @param queued how long its first record waited for a worker
/// @param predicted from then on until the last record was predicted
public record Invocation(int records, Duration decoded, Duration queued, Duration predicted, Duration encoded) {}
