/// Reads the environment and the flags once, at start, as the settings are typed, and reports every
/// problem at the same time.
///
/// Each group has its settings as constants, and `settings.properties` says what each is for.
/// [dev.berth.config.Configuration] lists them for `--help` and `docs/configuration.md`. The package
/// must not know what a setting is used for, nor look at anything but the maps it is given, whether
/// files and directories exist, and the files of TLS. The main thread runs it; what it hands out is immutable and
/// shared by all.
package dev.berth.config;
