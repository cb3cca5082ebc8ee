package dev.berth.config;

/// The settings of an extension, which [java.util.ServiceLoader] finds. They stand in `--help` and
/// in `docs/configuration.md` as those of the server do, with what they are for: a line for each in
/// `settings.properties`, in the package of this class.
public interface ExtensionSettings {

    /// Reads them, once for each pass over all settings, and after those of the server. What is wrong
    /// is a [Reading#problem].
    ///
    /// @return what the extension finds again by its class, in [ServerConfig#of]
    Record read(Reading reading);
}
