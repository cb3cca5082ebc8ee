package dev.berth.config;

/// The settings of one part of the server, or of an extension, whose groups [java.util.ServiceLoader]
/// finds. All stand in `--help` and in `docs/configuration.md`, with what `settings.properties` says of
/// them, in the package of the group. Its constants are made by [Settings#of].
public interface SettingGroup {

    /// Finds what is wrong with values that could be read one by one, and gives paths to settings.
    default void check(ServerConfig config, Findings findings) {}
}
