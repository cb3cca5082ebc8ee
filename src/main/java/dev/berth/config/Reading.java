package dev.berth.config;

import dev.berth.config.Setting.Flag;
import dev.berth.config.Setting.Source;
import dev.berth.config.Setting.Variable;
import dev.berth.config.Setting.WhenUnset;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SequencedSet;

/// One pass over the settings: looks each one up and notes what it was, and what was wrong with it,
/// on the way.
///
/// A value that can't be read counts as unset, so that the pass goes on and finds the other
/// problems too.
final class Reading {

  private final Map<String, String> environment;
  private final Map<String, String> flags;
  private final Map<Setting<?>, EffectiveSetting> effective = new HashMap<>();
  private final SequencedSet<String> problems = new LinkedHashSet<>();

  Reading(Map<String, String> environment, Map<String, String> flags) {
    this.environment = Map.copyOf(environment);
    this.flags = Map.copyOf(flags);
  }

  /// The value of a setting that has a fixed default.
  <T> T get(Setting<T> setting) {
    return switch (setting.whenUnset()) {
      case WhenUnset.Fixed<T>(var value) -> get(setting, value);
      case WhenUnset.Rule<T> _, WhenUnset.Detected<T> _ ->
          throw new IllegalArgumentException(setting.name() + " has no fixed default");
    };
  }

  /// The value of a setting whose default the caller has worked out.
  <T> T get(Setting<T> setting, T unset) {
    return given(setting)
        .orElseGet(
            () -> {
              note(setting, setting.show(unset), EffectiveSetting.DEFAULT);
              return unset;
            });
  }

  /// The value of a setting that may stay open.
  <T> Optional<T> find(Setting<T> setting) {
    var given = given(setting);
    if (given.isEmpty()) {
      note(
          setting,
          setting.defaultText(),
          setting.whenUnset() instanceof WhenUnset.Detected<T>
              ? EffectiveSetting.DETECTED
              : EffectiveSetting.DEFAULT);
    }
    return given;
  }

  /// Whether anybody has chosen this, rightly or wrongly.
  boolean isSet(Setting<?> setting) {
    return !written(setting).isEmpty();
  }

  /// What somebody has written for this; nothing where it is unset.
  String written(Setting<?> setting) {
    return setting.sources().stream()
        .map(this::text)
        .filter(text -> !text.isBlank())
        .findFirst()
        .orElse("");
  }

  void problem(String message) {
    problems.add(message);
  }

  List<String> problems() {
    return List.copyOf(problems);
  }

  /// What was read, in the order of [Settings#ALL].
  List<EffectiveSetting> effective() {
    return Settings.ALL.stream().map(effective::get).filter(Objects::nonNull).toList();
  }

  private <T> Optional<T> given(Setting<T> setting) {
    for (var source : setting.sources()) {
      var text = text(source);
      if (!text.isBlank()) {
        var value = source.syntax().read(text);
        value.ifPresentOrElse(
            read -> note(setting, setting.show(read), origin(source)),
            () ->
                problem(
                    "%s: found \"%s\", expected %s"
                        .formatted(source.name(), text, source.syntax().expected())));
        return value;
      }
    }
    return Optional.empty();
  }

  private String text(Source<?> source) {
    return switch (source) {
      case Flag<?> flag -> flags.getOrDefault(flag.name(), "");
      case Variable<?> variable -> environment.getOrDefault(variable.name(), "");
    };
  }

  private static String origin(Source<?> source) {
    return switch (source) {
      case Flag<?> flag -> "flag " + flag.name();
      case Variable<?> variable -> variable.name();
    };
  }

  private void note(Setting<?> setting, String value, String origin) {
    effective.put(setting, new EffectiveSetting(setting.name(), value, origin));
  }
}
