package dev.berth.config;

import java.util.List;
import java.util.Optional;

/// One thing that the operator can choose, and what holds now: `port = 9000 (flag --port)`.
///
/// @param name how the log and the documentation call it
/// @param hasFlag whether the option of that name sets it too; it wins over the variables
/// @param variables the environment variables that set it, the one that wins first
/// @param label stands for the value in `--help`, such as `<seconds>`
/// @param expected what a good value is
/// @param unset what holds when nobody chooses, in words
/// @param meaning one line, for `--help` and the documentation
/// @param value what holds
/// @param origin where that came from: a flag, a variable's name, `default` or `detected`
public record Setting(
        String name,
        boolean hasFlag,
        List<String> variables,
        String label,
        String expected,
        String unset,
        String meaning,
        String value,
        String origin) {

    static final String DEFAULT = "default";
    static final String DETECTED = "detected";

    /// Its option on the command line, such as `--port`.
    public Optional<String> flag() {
        return hasFlag ? Optional.of("--" + name) : Optional.empty();
    }

    /// Whether somebody has chosen it.
    public boolean isChosen() {
        return !origin.equals(DEFAULT) && !origin.equals(DETECTED);
    }

    @Override
    public String toString() {
        return "%s = %s (%s)".formatted(name, value, origin);
    }
}
