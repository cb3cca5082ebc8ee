package dev.berth.config;

import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.Predicate;

/// What is wrong with the settings, or looks like a slip of the pen: one line each.
public final class Findings {

    private final Predicate<String> isTaken;
    private final Set<String> claimed = new HashSet<>();
    private final SequencedSet<String> problems = new LinkedHashSet<>();
    private final SequencedSet<String> warnings = new LinkedHashSet<>();

    /// @param isTaken whether a path is one of the server's own
    Findings(Predicate<String> isTaken) {
        this.isTaken = isTaken;
    }

    public void problem(String message) {
        problems.add(message);
    }

    public void warning(String message) {
        warnings.add(message);
    }

    /// Gives a setting its path. It is a problem where the server has a route there, or another setting
    /// has the path.
    ///
    /// @param others the server's own paths that it may be all the same, the usual one first
    public void claim(Setting<String> setting, Optional<String> path, String... others) {
        var allowed = List.of(others);
        path.filter(own -> !allowed.contains(own) && (isTaken.test(own) || !claimed.add(own)))
                .ifPresent(own -> problem("%s: found %s, expected %s"
                        .formatted(
                                setting.flag().isPresent()
                                        ? setting.name()
                                        : setting.variables().getFirst(),
                                own,
                                allowed.isEmpty()
                                        ? "a path of its own; the server has a route there"
                                        : allowed.getFirst() + " or a path of its own")));
    }

    List<String> problems() {
        return List.copyOf(problems);
    }

    List<String> warnings() {
        return List.copyOf(warnings);
    }
}
