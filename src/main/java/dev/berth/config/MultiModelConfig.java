package dev.berth.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/// Whether models come and go while the server runs.
///
/// @param enabled false: there is one model, which is loaded at start
/// @param directory each of its directories is an artifact to serve; empty: the platform says what
///   to load
/// @param load when those are loaded
/// @param memoryBytes what they may take together; empty: what the machine has
/// @param loadTimeout how long a load may take before its caller is told that it did not end
public record MultiModelConfig(
    boolean enabled,
    Optional<Path> directory,
    LoadModels load,
    OptionalLong memoryBytes,
    Duration loadTimeout) {

  public MultiModelConfig {
    Objects.requireNonNull(directory, "directory");
    Objects.requireNonNull(load, "load");
    Objects.requireNonNull(loadTimeout, "loadTimeout");
    memoryBytes.ifPresent(bytes -> Require.atLeast("memoryBytes", bytes, 1));
  }
}
