package dev.berth.http;

import io.javalin.config.JavalinConfig;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/// The paths of the server, some of which have a parameter: `/models/{name}`.
///
/// @param methods the methods of each
/// @param elsewhere paths that another server would have, and what to say to those who ask this one
record Paths(Map<String, SortedSet<String>> methods, Map<String, String> elsewhere) {

  private static final Pattern PARAMETER = Pattern.compile("\\{[a-z]+}");

  /// Those that Javalin gets from now on, until it starts.
  static Paths of(JavalinConfig javalin, Map<String, String> elsewhere) {
    var paths = new Paths(new TreeMap<>(), elsewhere);
    javalin.events.handlerAdded(
        route -> {
          if (route.getHttpMethod().isHttpMethod()) {
            paths
                .methods
                .computeIfAbsent(route.getPath(), _ -> new TreeSet<>())
                .add(route.getHttpMethod().name());
          }
        });
    return paths;
  }

  /// Those that there are so far.
  Paths soFar() {
    return new Paths(Map.copyOf(methods), elsewhere);
  }

  /// The pattern of a path as a client sent it.
  Optional<String> pattern(String path) {
    return find(methods.keySet(), path);
  }

  /// The methods of a path as a client sent it, as `Allow` lists them.
  Optional<String> allowed(String path) {
    return pattern(path).map(pattern -> String.join(", ", methods.get(pattern)));
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
