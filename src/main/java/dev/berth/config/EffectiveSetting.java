package dev.berth.config;

/// A setting as it holds now, for the log at start: `port = 9000 (flag --port)`.
///
/// @param origin where the value came from: a flag, an environment variable's name, `default` or
///   `detected`
public record EffectiveSetting(String name, String value, String origin) {

  static final String DEFAULT = "default";
  static final String DETECTED = "detected";

  /// Whether somebody has chosen it.
  public boolean isChosen() {
    return !origin.equals(DEFAULT) && !origin.equals(DETECTED);
  }

  @Override
  public String toString() {
    return "%s = %s (%s)".formatted(name, value, origin);
  }
}
