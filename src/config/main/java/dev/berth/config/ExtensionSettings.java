package dev.berth.config;

import java.util.Comparator;
import java.util.List;
import java.util.ServiceLoader;

/// The settings of an extension, which [java.util.ServiceLoader] finds. They stand in `--help` and
/// in `docs/configuration.md` as those of the server do, with what they are for: a line for each in
/// `settings.properties`, in the package of this class.
public interface ExtensionSettings {

    /// Those of all extensions, in the same order whatever the class path's.
    List<ExtensionSettings> ALL = ServiceLoader.load(ExtensionSettings.class).stream()
            .sorted(Comparator.comparing(provider -> provider.type().getName()))
            .map(ServiceLoader.Provider::get)
            .toList();

    /// Reads them, once for each pass over all settings, and after those of the server. What is wrong
    /// is a [Reading#problem].
    ///
    /// @return what the extension finds again by its class, in [ServerConfig#of]
    Record read(Reading reading);
}
