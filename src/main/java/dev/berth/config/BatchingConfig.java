package dev.berth.config;

import java.time.Duration;
import java.util.OptionalInt;

/// How records wait and how they are put together.
///
/// @param queueCapacity records that may wait before callers are refused; `Integer.MAX_VALUE` is
///   unlimited
/// @param maxBatchSize records in a batch; empty: as the accelerator wants
/// @param maxBatchTokens padded cost of a batch; empty: as the accelerator wants
/// @param maxBatchDelay how long a free worker waits for a batch to fill; zero: not at all
/// @param targetDelay when a request has waited for longer and others leave unanswered, the newest
///   is served first; zero: never
/// @param timeout how long a request may take
/// @param stuckAfter how long after its request's deadline a hook that still runs counts as stuck
public record BatchingConfig(
    int queueCapacity,
    OptionalInt maxBatchSize,
    OptionalInt maxBatchTokens,
    Duration maxBatchDelay,
    Duration targetDelay,
    Duration timeout,
    Duration stuckAfter) {

  public BatchingConfig {
    Require.atLeast("queueCapacity", queueCapacity, 1);
    Require.atLeast("maxBatchSize", maxBatchSize, 1);
    Require.atLeast("maxBatchTokens", maxBatchTokens, 1);
    Require.atLeast("maxBatchDelay", maxBatchDelay.toMillis(), 0);
    Require.atLeast("targetDelay", targetDelay.toMillis(), 0);
    Require.atLeast("timeout", timeout.toMillis(), 1);
    Require.atLeast("stuckAfter", stuckAfter.toMillis(), 1);
  }
}
