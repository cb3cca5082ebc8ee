package dev.berth.config;

import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.function.Consumer;
import java.util.function.Function;

/// One thing that the operator can choose: a constant of its [SettingGroup], made by [Settings].
///
/// All that is text stands in `settings.properties`, beside that group: what the setting is for, by its
/// name, and, below
///
/// * `NAME.variables`: its variables, where it has others than `BERTH_` and the name. The first of them
///   that is set wins, and a flag wins over them.
/// * `NAME.flag`: `none` where variables alone set it.
/// * `NAME.default`: what holds when nobody chooses.
/// * `NAME.unset`: what holds then, in words. Else the default is shown.
/// * `NAME.detected`: the same, where the part of the server that the setting is for looks at the
///   machine then.
///
/// @param name how the log and the documentation call it; its flag has two dashes before that
/// @param unset what holds when nobody chooses; empty: it stays open
public record Setting<T>(String name, Syntax<T> syntax, Function<Platform, Optional<T>> unset, Properties texts) {

    /// Also the prefix of the variables that are Berth's alone.
    static final String OURS = "BERTH_";

    /// What holds of a setting now: `port = 9000 (flag --port)`.
    ///
    /// @param source the flag or variable that chose it
    public record Value<T>(Setting<T> setting, Optional<T> value, Optional<String> source) {

        /// Whether anybody has chosen this, rightly or wrongly.
        public boolean isChosen() {
            return source.isPresent();
        }

        @Override
        public String toString() {
            var shown = value.map(setting.syntax::show).orElseGet(setting::rule);
            var origin = source.map(name -> name.startsWith("-") ? "flag " + name : name)
                    .orElse(setting.detected().isPresent() ? "detected" : "default");
            return "%s = %s (%s)".formatted(setting.name, shown, origin);
        }
    }

    /// Its option on the command line, such as `--port`.
    public Optional<String> flag() {
        return texts.containsKey(name + ".flag") ? Optional.empty() : Optional.of("--" + name);
    }

    /// The environment variables that set it, the one that wins first.
    public List<String> variables() {
        return List.of(texts.getProperty(name + ".variables", ours()).split(" "));
    }

    /// The variable that it would have if it were ours alone.
    String ours() {
        return OURS + name.replace('-', '_').toUpperCase(Locale.ROOT);
    }

    /// What it is for: one line, for `--help` and the documentation.
    public String meaning() {
        return texts.getProperty(name);
    }

    /// What holds when nobody chooses, in words.
    public String rule() {
        return detected()
                .or(() -> Optional.ofNullable(texts.getProperty(name + ".unset")))
                .or(() -> unset.apply(new Platform(Map.of(), Path.of(""))).map(syntax::show))
                .orElse("not set");
    }

    private Optional<String> detected() {
        return Optional.ofNullable(texts.getProperty(name + ".detected"));
    }

    /// Reads it. A value that can't be read counts as unset, so that other problems are found too.
    ///
    /// @param flags the text of each flag given, by its name with the dashes
    Value<T> read(Platform platform, Map<String, String> flags, Consumer<String> problem) {
        var given = new LinkedHashMap<String, String>();
        flag().ifPresent(flag -> given.put(flag, flags.get(flag)));
        variables()
                .forEach(variable -> given.put(variable, platform.environment().get(variable)));
        given.values().removeIf(text -> text == null || text.isBlank());
        var first = Optional.ofNullable(given.firstEntry());
        var value = first.flatMap(text -> read(text.getKey(), text.getValue(), problem));
        return new Value<>(this, value.or(() -> unset.apply(platform)), first.map(Map.Entry::getKey));
    }

    /// The value that the variables of a platform give it, where no flag does.
    Optional<T> on(Platform platform) {
        return read(platform, Map.of(), _ -> {}).value();
    }

    private Optional<T> read(String source, String text, Consumer<String> problem) {
        var spelling = syntax.variants().getOrDefault(source, syntax);
        var value = spelling.read(text);
        if (value.isEmpty()) {
            problem.accept("%s: found \"%s\", expected %s%s"
                    .formatted(source, Syntax.withoutUser(text), spelling.expected(), Syntax.unpacking(text)));
        }
        return value;
    }
}
