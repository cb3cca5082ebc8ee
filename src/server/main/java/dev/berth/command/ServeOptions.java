package dev.berth.command;

import dev.berth.config.Setting;
import dev.berth.config.Settings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/// The settings as options of the command line, and as its help.
///
/// Options take any text: the settings read it themselves, so that a flag and a variable get the
/// same message.
public final class ServeOptions {

    private static final int HELP_WIDTH = 110;

    private ServeOptions() {}

    /// A command with those of the settings that have a flag.
    public static CommandSpec with(List<Setting> settings) {
        var spec = CommandSpec.create().mixinStandardHelpOptions(true).version("berth " + version());
        add(settings, spec);
        spec.usageMessage().width(HELP_WIDTH).sortOptions(false);
        return spec;
    }

    /// Gives a command those of the settings that have a flag.
    public static void add(List<Setting> settings, CommandSpec spec) {
        settings.forEach(setting -> setting.flag().ifPresent(flag -> spec.addOption(option(setting, flag))));
    }

    /// The text of each flag that was given, by its name.
    public static Map<String, String> given(ParseResult parsed) {
        return parsed.matchedOptions().stream()
                .filter(option -> option.getValue() instanceof String)
                .collect(Collectors.toMap(OptionSpec::longestName, OptionSpec::<String>getValue));
    }

    private static OptionSpec option(Setting setting, String flag) {
        var option = OptionSpec.builder(flag);
        if (setting.syntax().label().equals("<true|false>")) {
            // The name alone is enough.
            option.arity("0..1").fallbackValue("true");
        }
        return option.type(String.class)
                .paramLabel(setting.syntax().label())
                .description(
                        setting.meaning(),
                        "  " + String.join(", ", setting.variables()),
                        "  Default: " + setting.unset())
                .build();
    }

    /// The help of settings that have no flag.
    static String[] withoutFlag() {
        var lines = new ArrayList<>(List.of("", "Set in the environment only:"));
        Settings.ALL.stream().filter(setting -> setting.flag().isEmpty()).forEach(setting -> {
            lines.add("  " + String.join(", ", setting.variables()));
            lines.add("      %s. Default: %s".formatted(setting.meaning(), setting.unset()));
        });
        return lines.toArray(String[]::new);
    }

    private static String version() {
        return Optional.ofNullable(ServeOptions.class.getPackage().getImplementationVersion())
                .orElse("(unpackaged)");
    }
}
