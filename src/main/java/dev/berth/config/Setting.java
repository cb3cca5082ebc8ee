package dev.berth.config;

import java.util.List;
import java.util.Optional;

/// One thing that the operator can choose: where it is read from, what it is when nobody chooses,
/// and what it means.
///
/// @param name how the log and the documentation call it
/// @param sources where it is read from: the first that is set wins
/// @param meaning one line, for `--help` and the documentation
public record Setting<T>(
    String name, List<Source<T>> sources, WhenUnset<T> whenUnset, String meaning) {

  public Setting {
    sources = List.copyOf(sources);
  }

  /// A place that holds a setting's text. Two of one setting may differ in unit.
  public sealed interface Source<T> {
    String name();

    Syntax<T> syntax();
  }

  /// An option on the command line, such as `--port`.
  public record Flag<T>(String name, Syntax<T> syntax) implements Source<T> {}

  /// An environment variable.
  public record Variable<T>(String name, Syntax<T> syntax) implements Source<T> {}

  /// What holds when no source is set.
  public sealed interface WhenUnset<T> {
    /// Always this value.
    record Fixed<T>(T value) implements WhenUnset<T> {}

    /// A value that follows from other settings, as the text says.
    record Rule<T>(String text) implements WhenUnset<T> {}

    /// Left open here: the part of the server that the setting is for looks at the machine.
    record Detected<T>(String text) implements WhenUnset<T> {}
  }

  public Optional<Flag<T>> flag() {
    return sources.stream()
        .filter(Flag.class::isInstance)
        .map(source -> (Flag<T>) source)
        .findFirst();
  }

  /// The environment variables, the one that wins first.
  public List<Variable<T>> variables() {
    return sources.stream()
        .filter(Variable.class::isInstance)
        .map(source -> (Variable<T>) source)
        .toList();
  }

  /// The default in words, for `--help` and the documentation.
  public String defaultText() {
    return switch (whenUnset) {
      case WhenUnset.Fixed<T>(var value) -> show(value);
      case WhenUnset.Rule<T>(var text) -> text;
      case WhenUnset.Detected<T>(var text) -> text;
    };
  }

  String show(T value) {
    return sources.getFirst().syntax().show(value);
  }
}
