package dev.berth.page;

import dev.berth.config.Setting;
import dev.berth.config.SettingGroup;
import dev.berth.config.Settings;

/// Whether there is a page.
public final class PageConfig implements SettingGroup {

    private static final Settings SETTINGS = Settings.of(PageConfig.class);

    static final Setting<Boolean> PAGE = SETTINGS.atDesk("page");
}
