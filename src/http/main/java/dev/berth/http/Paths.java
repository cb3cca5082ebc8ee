package dev.berth.http;

import java.util.Collection;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/// The paths of the server, some of which have a parameter: `/models/{name}`.
///
/// @param all of them
/// @param requests those that no socket may have
/// @param elsewhere paths of a server with another number of models, and what to say to those who ask this one
public record Paths(Set<String> all, Map<String, String> elsewhere, Set<String> requests) {

    private static final Pattern PARAMETER = Pattern.compile("\\{[a-z]+}");

    /// The pattern of a path as a client sent it.
    public Optional<String> pattern(String path) {
        return find(all, path);
    }

    /// The same where no socket may have the path.
    public Optional<String> patternOfRequests(String path) {
        return find(requests, path);
    }

    /// What to say to those who ask for a path that a server with another number of models has.
    public Optional<String> advice(String path) {
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
