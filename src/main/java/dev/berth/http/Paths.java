package dev.berth.http;

import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/// The paths of the server, some of which have a parameter: `/models/{name}`.
///
/// @param allowed the methods of each, as `Allow` lists them
/// @param elsewhere paths that another server would have, and what to say to those who ask this one
record Paths(Map<String, String> allowed, Map<String, String> elsewhere) {

  private static final Pattern PARAMETER = Pattern.compile("\\{[a-z]+}");

  static Paths of(Collection<Route> routes, Map<String, String> elsewhere) {
    var methods = new TreeMap<String, TreeSet<String>>();
    routes.forEach(
        route ->
            methods.computeIfAbsent(route.path(), _ -> new TreeSet<>()).add(route.method().name()));
    var allowed = new TreeMap<String, String>();
    methods.forEach((path, names) -> allowed.put(path, String.join(", ", names)));
    return new Paths(allowed, elsewhere);
  }

  /// The pattern of a path as a client sent it.
  Optional<String> pattern(String path) {
    return find(allowed.keySet(), path);
  }

  /// What to say to those who ask for a path that another server would have.
  Optional<String> advice(String path) {
    return find(elsewhere.keySet(), path).map(elsewhere::get);
  }

  static Optional<String> find(Collection<String> patterns, String path) {
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
