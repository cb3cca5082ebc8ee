/// Reads the environment and the flags once, at start, into typed records, and reports every
/// problem at the same time.
///
/// Each record declares its settings where it reads them, and `settings.properties` says what each is for;
/// [dev.berth.config.Settings] lists them for `--help` and `docs/configuration.md`. The package
/// must not know what a setting is used for, nor look at anything but the maps it is given and
/// whether directories exist. The main thread runs it; the records that it hands out are immutable
/// and shared by all.
package dev.berth.config;
