package dev.berth.config;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Properties;
import java.util.SequencedMap;
import java.util.SequencedSet;
import java.util.Set;
import java.util.function.Predicate;

/// One pass over the settings. To declare a setting and to read it is one call, so that what is
/// read can be listed too: [Settings] makes a pass in which nothing is set. A setting that others
/// look at may be read more than once.
///
/// The name of a setting that has a flag is that flag, as in `--port`. All else that is text stands in
/// `settings.properties`, beside the class that reads the setting: what it is for, and, below
///
/// * `NAME.variables`: its variables, where it has others than `BERTH_` and the name. The first of them
///   that is set wins, and a flag wins over them.
/// * `NAME.unset`: what holds when nobody chooses, in words. Else the default is shown.
/// * `NAME.detected`: the same, where the part of the server that the setting is for looks at the
///   machine then.
///
/// A value that can't be read counts as unset, so that the pass goes on and finds the other problems too.
public final class Reading {

    /// Also the prefix of the variables that are Berth's alone.
    static final String OURS = "BERTH_";

    private final Properties texts;
    private final Map<String, String> environment;
    private final Map<String, String> flags;
    private final Predicate<String> isTaken;
    private final SequencedMap<String, Setting> settings = new LinkedHashMap<>();
    private final Set<String> claimed = new HashSet<>();
    private final SequencedSet<String> problems = new LinkedHashSet<>();
    private final SequencedSet<String> warnings = new LinkedHashSet<>();

    /// @param texts of all settings
    /// @param isTaken whether a path is one of the server's own
    Reading(Properties texts, Map<String, String> environment, Map<String, String> flags, Predicate<String> isTaken) {
        this.texts = texts;
        this.environment = Map.copyOf(environment);
        this.flags = Map.copyOf(flags);
        this.isTaken = isTaken;
    }

    /// A setting that always has a value.
    public <T> T value(String option, Syntax<T> syntax, T unset) {
        return read(option, syntax, Optional.of(unset)).orElseThrow();
    }

    /// One that may stay open.
    public <T> Optional<T> optional(String option, Syntax<T> syntax) {
        return read(option, syntax, Optional.empty());
    }

    private <T> Optional<T> read(String option, Syntax<T> syntax, Optional<T> unset) {
        var name = Setting.nameOf(option);
        var variables =
                List.of(texts.getProperty(name + ".variables", ours(name)).split(" "));
        var found = new LinkedHashMap<String, String>();
        found.put(option, flags.getOrDefault(option, ""));
        variables.forEach(variable -> found.put(variable, environment.getOrDefault(variable, "")));
        found.values().removeIf(String::isBlank);
        var source = Optional.ofNullable(found.firstEntry());
        var value = source.flatMap(text -> read(text, syntax.variants().getOrDefault(text.getKey(), syntax)))
                .or(() -> unset);
        var detected = Optional.ofNullable(texts.getProperty(name + ".detected"));
        var rule = detected.orElseGet(
                () -> texts.getProperty(name + ".unset", unset.map(syntax::show).orElse("not set")));
        var origin = source.map(text -> (text.getKey().equals(option) ? "flag " : "") + text.getKey())
                .orElse(detected.isPresent() ? Setting.DETECTED : Setting.DEFAULT);
        settings.put(
                name,
                new Setting(
                        option, variables, syntax, rule, value.map(syntax::show).orElse(rule), origin));
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

    /// Gives a path to a setting that was read. It is a problem where the server has a route there, or
    /// another setting has the path. The message has the flag's name, or the first variable.
    ///
    /// @param expected ends the sentence "expected …"
    public void claim(String name, String path, String expected) {
        if (isTaken.test(path) || !claimed.add(path)) {
            var setting = settings.get(name);
            var called = setting.flag().isPresent() ? name : setting.variables().getFirst();
            problem("%s: found %s, expected %s".formatted(called, path, expected));
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

    List<Setting> settings() {
        return List.copyOf(settings.values());
    }
}
