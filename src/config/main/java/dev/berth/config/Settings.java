package dev.berth.config;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;

/// Every setting there is, as the records of [ServerConfig] declare it while they read it. `--help`
/// and `docs/configuration.md` come from this list. A start does without it.
public final class Settings {

    /// In the order in which they are read.
    public static final List<Setting> ALL = all();

    /// Those that say which model is served on what.
    public static final List<Setting> OF_THE_MODEL =
            named("program instance-type workers cpu-profile neuron-cores extra-libraries max-batch-size"
                    + " max-batch-tokens log-level");

    private Settings() {}

    private static List<Setting> all() {
        var reading = Configuration.reading(Map.of(), Map.of(), _ -> false);
        ServerConfig.read(reading, Path.of(""));
        return reading.settings();
    }

    /// What a setting is for: one line, for `--help` and the documentation.
    public static String meaning(Setting setting) {
        return Objects.requireNonNull(Configuration.TEXTS.getProperty(setting.name()), setting.name());
    }

    /// @param names with spaces between them
    public static List<Setting> named(String names) {
        var byName = ALL.stream().collect(Collectors.toMap(Setting::name, Function.identity()));
        return Arrays.stream(names.split(" "))
                .map(byName::get)
                .map(Objects::requireNonNull)
                .toList();
    }
}
