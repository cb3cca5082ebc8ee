package dev.berth.desk;

import dev.berth.config.ExtensionSettings;
import dev.berth.config.PlatformConfig;
import dev.berth.config.Reading;

/// Whether boto3 finds its paths.
record DeskConfig(boolean isOn) {

    /// Reads it.
    public static final class Settings implements ExtensionSettings {
        @Override
        public Record read(Reading reading) {
            return new DeskConfig(PlatformConfig.atDesk("--runtime-api", reading));
        }
    }
}
