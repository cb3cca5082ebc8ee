package dev.berth.config;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.Predicate;

/// One pass over the settings. To declare a setting and to read it is one call, so that what is
/// read can be listed too: [Settings] makes a pass in which nothing is set. A setting that others
/// look at may be read more than once. What it is for stands in `settings.properties` beside the
/// class that reads it.
///
/// The name of a setting that has a flag is that flag, as in `--port`. Its variable is `BERTH_` and
/// the name, unless others are given: the first of those that is set wins, and a flag wins over
/// them. A value that can't be read counts as unset, so that the pass goes on and finds the other
/// problems too.
public final class Reading {

    /// Also the prefix of the variables that are Berth's alone.
    static final String OURS = "BERTH_";

    private final Map<String, String> environment;
    private final Map<String, String> flags;
    private final Predicate<String> isTaken;
    private final SequencedMap<String, Setting> settings = new LinkedHashMap<>();
    private final Set<String> claimed = new HashSet<>();
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

    /// A setting with a fixed default.
    public <T> T fixed(String option, Syntax<T> syntax, T unset, String... variables) {
        return derived(option, syntax, unset, syntax.show(unset), variables);
    }

    /// One whose default follows from other settings, as the rule says.
    public <T> T derived(String option, Syntax<T> syntax, T unset, String rule, String... variables) {
        return read(option, syntax, rule, new Unset(syntax.show(unset), Setting.DEFAULT), variables)
                .orElse(unset);
    }

    /// One that may stay open.
    ///
    /// @param unset what that means, in words
    public <T> Optional<T> optional(String option, Syntax<T> syntax, String unset, String... variables) {
        return read(option, syntax, unset, new Unset(unset, Setting.DEFAULT), variables);
    }

    /// The same, where the part of the server that the setting is for looks at the machine then.
    public <T> Optional<T> detected(String option, Syntax<T> syntax, String unset, String... variables) {
        return read(option, syntax, unset, new Unset(unset, Setting.DETECTED), variables);
    }

    /// What is shown of a setting that nobody has chosen.
    private record Unset(String value, String origin) {}

    private <T> Optional<T> read(String option, Syntax<T> syntax, String rule, Unset unset, String... given) {
        var name = Setting.nameOf(option);
        var variables = given.length > 0 ? List.of(given) : List.of(ours(name));
        var texts = new LinkedHashMap<String, String>();
        texts.put(option, flags.getOrDefault(option, ""));
        variables.forEach(variable -> texts.put(variable, environment.getOrDefault(variable, "")));
        texts.values().removeIf(String::isBlank);
        var source = Optional.ofNullable(texts.firstEntry());
        var value = source.flatMap(text -> read(text, syntax.variants().getOrDefault(text.getKey(), syntax)));
        var shown = value.map(syntax::show).orElse(unset.value);
        var origin = source.map(text -> (text.getKey().equals(option) ? "flag " : "") + text.getKey())
                .orElse(unset.origin);
        settings.put(name, new Setting(option, variables, syntax, rule, shown, origin));
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

    /// Gives a path to a setting. It is a problem where the server has a route there, or another setting
    /// has the path.
    ///
    /// @param expected ends the sentence "expected …"
    public void claim(String setting, String path, String expected) {
        if (isTaken.test(path) || !claimed.add(path)) {
            problem("%s: found %s, expected %s".formatted(setting, path, expected));
        }
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
