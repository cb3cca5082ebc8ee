package dev.berth.config;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.function.Consumer;

/// What holds of settings: of all, or of those that a command asks for. Immutable.
public final class ServerConfig {

    private final Platform platform;
    private final SequencedMap<String, Setting.Value<?>> values = new LinkedHashMap<>();

    /// Reads some settings. A flag wins over the environment; an empty value counts as unset.
    ///
    /// @param flags the text of each flag given, by its name with the dashes
    /// @param problem takes what is wrong with a value, in one line
    public ServerConfig(
            Collection<? extends Setting<?>> settings,
            Platform platform,
            Map<String, String> flags,
            Consumer<String> problem) {
        this.platform = platform;
        settings.forEach(setting -> values.put(setting.name(), setting.read(platform, flags, problem)));
    }

    /// A setting that always has a value.
    public <T> T get(Setting<T> setting) {
        return find(setting).orElseThrow();
    }

    /// One that may stay open.
    @SuppressWarnings("unchecked") // Whatever reads it, a name has one syntax.
    public <T> Optional<T> find(Setting<T> setting) {
        return (Optional<T>) values.get(setting.name()).value();
    }

    /// Whether anybody has chosen this, rightly or wrongly.
    public boolean isChosen(Setting<?> setting) {
        return values.get(setting.name()).isChosen();
    }

    public Platform platform() {
        return platform;
    }

    /// Every setting as it holds, in the order in which they were read.
    public List<Setting.Value<?>> effective() {
        return List.copyOf(values.values());
    }
}
