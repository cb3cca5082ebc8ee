package dev.berth.config;

import java.util.OptionalLong;

/// How many sessions there may be, of all models together.
///
/// @param bytes what they may take by their hooks' own estimate; empty: a share of the heap
public record SessionConfig(int most, OptionalLong bytes) {

  public SessionConfig {
    Require.atLeast("most", most, 1);
    bytes.ifPresent(limit -> Require.atLeast("bytes", limit, 1));
  }
}
