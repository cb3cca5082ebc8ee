package dev.berth.config;

import java.time.Duration;

/// How long answers may take that leave part by part.
///
/// @param partTimeout from one part to the next
/// @param timeout in all
public record StreamConfig(Duration partTimeout, Duration timeout) {

  public StreamConfig {
    Require.atLeast("partTimeout", partTimeout.toMillis(), 1);
    Require.atLeast("timeout", timeout.toMillis(), 1);
  }
}
