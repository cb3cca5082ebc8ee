package dev.berth.config;

import java.util.List;
import java.util.Optional;

/// One thing that the operator can choose, and what holds now: `port = 9000 (flag --port)`.
///
/// @param option its name; with dashes before it where a flag sets it too, which wins over the variables
/// @param variables the environment variables that set it, the one that wins first
/// @param syntax of its value
/// @param unset what holds when nobody chooses, in words
/// @param value what holds
/// @param origin where that came from: a flag, a variable's name, `default` or `detected`
public record Setting(
        String option, List<String> variables, Syntax<?> syntax, String unset, String value, String origin) {

    static final String DEFAULT = "default";
    static final String DETECTED = "detected";
    private static final String DASHES = "--";

    /// How the log and the documentation call it.
    public String name() {
        return nameOf(option);
    }

    static String nameOf(String option) {
        return option.startsWith(DASHES) ? option.substring(DASHES.length()) : option;
    }

    /// Its option on the command line, such as `--port`.
    public Optional<String> flag() {
        return Optional.of(option).filter(name -> name.startsWith(DASHES));
    }

    public boolean isChosen() {
        return !origin.equals(DEFAULT) && !origin.equals(DETECTED);
    }

    @Override
    public String toString() {
        return "%s = %s (%s)".formatted(name(), value, origin);
    }
}
