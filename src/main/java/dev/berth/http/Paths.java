package dev.berth.http;

import static java.util.stream.Collectors.collectingAndThen;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.mapping;
import static java.util.stream.Collectors.toCollection;

import io.javalin.config.JavalinConfig;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/// The paths of the server, some of which have a parameter: `/models/{name}`.
///
/// @param methods the methods of each, as `Allow` lists them: `GET, POST`
/// @param elsewhere paths that another server would have, and what to say to those who ask this one
record Paths(Map<String, String> methods, Map<String, String> elsewhere) {

  private static final Pattern PARAMETER = Pattern.compile("\\{[a-z]+}");

  Paths {
    methods = Map.copyOf(methods);
    elsewhere = Map.copyOf(elsewhere);
  }

  /// Those that Javalin has so far.
  static Paths of(JavalinConfig javalin, Map<String, String> elsewhere) {
    return new Paths(
        javalin.unsafe.internalRouter.allHttpHandlers().stream()
            .map(route -> route.endpoint)
            .filter(route -> route.method.isHttpMethod())
            .collect(
                groupingBy(
                    route -> route.path,
                    mapping(
                        route -> route.method.name(),
                        collectingAndThen(
                            toCollection(TreeSet::new), methods -> String.join(", ", methods))))),
        elsewhere);
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
        : patterns.stream().filter(pattern -> matches(pattern, path)).findFirst();
  }

  private static boolean matches(String pattern, String path) {
    return pattern.indexOf('{') >= 0
        && path.matches(PARAMETER.matcher(pattern).replaceAll("[^/]+"));
  }
}
