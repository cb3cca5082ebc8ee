package dev.berth.config;

import java.util.OptionalInt;

/// The bounds that the configuration records hold themselves to, however they are made.
final class Require {

  private Require() {}

  static void between(String name, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s: found %d, expected %d to %d".formatted(name, value, least, most));
    }
  }

  static void atLeast(String name, long value, long least) {
    if (value < least) {
      throw new IllegalArgumentException(
          "%s: found %d, expected at least %d".formatted(name, value, least));
    }
  }

  static void atLeast(String name, OptionalInt value, long least) {
    value.ifPresent(given -> atLeast(name, given, least));
  }
}
