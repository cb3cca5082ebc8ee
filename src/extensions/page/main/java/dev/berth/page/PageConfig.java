package dev.berth.page;

import dev.berth.config.ExtensionSettings;
import dev.berth.config.PlatformConfig;
import dev.berth.config.Reading;

/// Whether there is a page.
record PageConfig(boolean isOn) {

    /// Reads it.
    public static final class Settings implements ExtensionSettings {
        @Override
        public Record read(Reading reading) {
            return new PageConfig(PlatformConfig.atDesk("--page", reading));
        }
    }
}
