package dev.berth.config;

import java.time.Duration;
import java.util.Objects;

/// Whether models come and go while the server runs.
///
/// @param enabled false: there is one model, which is loaded at start
/// @param loadTimeout how long a load may take before its caller is told that it did not end
public record MultiModelConfig(boolean enabled, Duration loadTimeout) {

  public MultiModelConfig {
    Objects.requireNonNull(loadTimeout, "loadTimeout");
  }
}
