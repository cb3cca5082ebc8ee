package dev.berth.config;

import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.function.Function;

/// Makes the settings of a group, and lists them as they were made. That is the order of `--help` and of
/// `docs/configuration.md`.
public final class Settings {

    private static final ClassValue<Settings> OF_GROUPS = new ClassValue<>() {
        @Override
        protected Settings computeValue(Class<?> group) {
            return new Settings(group);
        }
    };

    private final Properties texts = new Properties();
    private final List<Setting<?>> all = new ArrayList<>();

    /// Those of a group, beside which `settings.properties` is.
    public static Settings of(Class<? extends SettingGroup> group) {
        return OF_GROUPS.get(group);
    }

    private Settings(Class<?> group) {
        try (var in = group.getResourceAsStream("settings.properties")) {
            texts.load(new InputStreamReader(in, StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    List<Setting<?>> all() {
        return all;
    }

    /// A setting whose default, where it has one, stands in `settings.properties` too.
    public <T> Setting<T> of(String name, Syntax<T> syntax) {
        var unset = Optional.ofNullable(texts.getProperty(name + ".default"))
                .map(text -> syntax.read(text).orElseThrow());
        return add(name, syntax, _ -> unset);
    }

    /// One whose default depends on where the process runs.
    public <T> Setting<T> of(String name, Syntax<T> syntax, Function<Platform, T> unset) {
        return add(name, syntax, unset.andThen(Optional::of));
    }

    /// One for people who try a server: by default true, and false where a platform runs it.
    public Setting<Boolean> atDesk(String name) {
        return of(name, Syntax.trueOrFalse(), platform -> !platform.isAny());
    }

    private <T> Setting<T> add(String name, Syntax<T> syntax, Function<Platform, Optional<T>> unset) {
        if (!texts.containsKey(name)) {
            throw new IllegalStateException(
                    "settings.properties: %s: found nothing, expected what it is for".formatted(name));
        }
        var setting = new Setting<>(name, syntax, unset, texts);
        all.add(setting);
        return setting;
    }
}
