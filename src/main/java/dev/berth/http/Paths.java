package dev.berth.http;

import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/// The paths of the server, some of which have a parameter: `/models/{name}`.
///
/// @param methods the methods of each, as `Allow` lists them
/// @param elsewhere paths that another server would have, and what to say to those who ask this one
record Paths(Map<String, String> methods, Map<String, String> elsewhere) {

  private static final Pattern PARAMETER = Pattern.compile("\\{[a-z]+}");

  Paths {
    methods = Map.copyOf(methods);
    elsewhere = Map.copyOf(elsewhere);
  }

  /// These and others.
  Paths and(Map<String, String> more) {
    var all = new LinkedHashMap<>(methods);
    all.putAll(more);
    return new Paths(all, elsewhere);
  }

  /// The pattern of a path as a client sent it.
  Optional<String> pattern(String path) {
    return find(methods.keySet(), path);
  }

  /// The methods of a path as a client sent it.
  Optional<String> allowed(String path) {
    return pattern(path).map(methods::get);
  }

  /// What to say to those who ask for a path that another server would have.
  Optional<String> advice(String path) {
    return find(elsewhere.keySet(), path).map(elsewhere::get);
  }

  private static Optional<String> find(Set<String> patterns, String path) {
    return patterns.contains(path)
        ? Optional.of(path)
        // The longest: {name}:predict matches {name} too.
        : patterns.stream()
            .filter(pattern -> matches(pattern, path))
            .max(Comparator.comparingInt(String::length));
  }

  private static boolean matches(String pattern, String path) {
    return pattern.indexOf('{') >= 0
        && path.matches(PARAMETER.matcher(pattern).replaceAll("[^/]+"));
  }
}
