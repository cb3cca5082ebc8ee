package dev.berth.config;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.function.Predicate;

/// One pass over the settings. To declare a setting and to read it is one call, so that what is
/// read can be listed too: [Settings] makes a pass in which nothing is set. A setting that others
/// look at may be read more than once.
///
/// The name of a setting that has a flag is that flag, as in `--port`. Its variable is `BERTH_` and
/// the name, unless others are given: the first of those that is set wins, and a flag wins over
/// them. A value that can't be read counts as unset, so that the pass goes on and finds the other
/// problems too.
public final class Reading {

    /// Also the prefix of the variables that are Berth's alone.
    static final String OURS = "BERTH_";

    private static final String DASHES = "--";

    private final Map<String, String> environment;
    private final Map<String, String> flags;
    private final Predicate<String> isTaken;
    private final SequencedMap<String, Setting> settings = new LinkedHashMap<>();
    private final SequencedSet<String> problems = new LinkedHashSet<>();
    private final SequencedSet<String> warnings = new LinkedHashSet<>();

    Reading(Map<String, String> environment, Map<String, String> flags) {
        this(environment, flags, _ -> false);
    }

    /// @param isTaken whether a path is one of the server's own
    Reading(Map<String, String> environment, Map<String, String> flags, Predicate<String> isTaken) {
        this.environment = Map.copyOf(environment);
        this.flags = Map.copyOf(flags);
        this.isTaken = isTaken;
    }

    public boolean isTaken(String path) {
        return isTaken.test(path);
    }

    /// A setting with a fixed default.
    public <T> T fixed(String name, Syntax<T> syntax, T unset, String meaning, String... variables) {
        return derived(name, syntax, unset, syntax.show(unset), meaning, variables);
    }

    /// One whose default follows from other settings, as the rule says.
    public <T> T derived(String name, Syntax<T> syntax, T unset, String rule, String meaning, String... variables) {
        return read(name, syntax, rule, syntax.show(unset), Setting.DEFAULT, meaning, variables)
                .orElse(unset);
    }

    /// One that may stay open.
    ///
    /// @param unset what that means, in words
    public <T> Optional<T> optional(String name, Syntax<T> syntax, String unset, String meaning, String... variables) {
        return read(name, syntax, unset, unset, Setting.DEFAULT, meaning, variables);
    }

    /// The same, where the part of the server that the setting is for looks at the machine then.
    public <T> Optional<T> detected(String name, Syntax<T> syntax, String unset, String meaning, String... variables) {
        return read(name, syntax, unset, unset, Setting.DETECTED, meaning, variables);
    }

    private <T> Optional<T> read(
            String flagOrName,
            Syntax<T> syntax,
            String unset,
            String shown,
            String unsetOrigin,
            String meaning,
            String... given) {
        boolean hasFlag = flagOrName.startsWith(DASHES);
        var name = hasFlag ? flagOrName.substring(DASHES.length()) : flagOrName;
        var variables = given.length > 0 ? List.of(given) : List.of(ours(name));
        var texts = new LinkedHashMap<String, String>();
        texts.put(flagOrName, flags.getOrDefault(flagOrName, ""));
        variables.forEach(variable -> texts.put(variable, environment.getOrDefault(variable, "")));
        texts.values().removeIf(String::isBlank);
        var source = Optional.ofNullable(texts.firstEntry());
        var value = source.flatMap(text -> read(text, syntax.variants().getOrDefault(text.getKey(), syntax)));
        settings.put(
                name,
                new Setting(
                        name,
                        hasFlag,
                        variables,
                        syntax.label(),
                        syntax.expected(),
                        unset,
                        meaning,
                        value.map(syntax::show).orElse(shown),
                        source.map(text -> (text.getKey().equals(flagOrName) ? "flag " : "") + text.getKey())
                                .orElse(unsetOrigin)));
        return value;
    }

    private <T> Optional<T> read(Map.Entry<String, String> source, Syntax<T> syntax) {
        var value = syntax.read(source.getValue());
        if (value.isEmpty()) {
            problem("%s: found \"%s\", expected %s"
                    .formatted(source.getKey(), Syntax.withoutUser(source.getValue()), syntax.expected()));
        }
        return value;
    }

    /// The variable of a setting that has no other.
    static String ours(String name) {
        return OURS + name.replace('-', '_').toUpperCase(Locale.ROOT);
    }

    public static OptionalInt number(Optional<Integer> value) {
        return value.map(OptionalInt::of).orElseGet(OptionalInt::empty);
    }

    public Map<String, String> environment() {
        return environment;
    }

    /// Whether anybody has chosen this, rightly or wrongly.
    public boolean isSet(String name) {
        return settings.get(name).isChosen();
    }

    public void problem(String message) {
        problems.add(message);
    }

    public void warning(String message) {
        warnings.add(message);
    }

    List<String> problems() {
        return List.copyOf(problems);
    }

    List<String> warnings() {
        return List.copyOf(warnings);
    }

    /// What was read, in that order.
    List<Setting> settings() {
        return List.copyOf(settings.values());
    }
}
