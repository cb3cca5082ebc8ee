package dev.berth.command;

import dev.berth.config.Configuration;
import dev.berth.config.ConfigurationException;
import dev.berth.config.ServerConfig;
import dev.berth.config.Setting;
import dev.berth.http.Routes;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/// The settings as options of the command line, and as its help.
///
/// Options take any text: the settings read it themselves, so that a flag and a variable get the
/// same message.
public final class ServeOptions {

    private static final int HELP_WIDTH = 110;

    private static final Logger log = LoggerFactory.getLogger(ServeOptions.class);

    private ServeOptions() {}

    /// Makes a command one that has those of the settings that have a flag.
    public static CommandSpec with(CommandSpec spec, List<? extends Setting<?>> settings) {
        spec.mixinStandardHelpOptions(true).version("berth " + version());
        add(settings, spec);
        spec.usageMessage().width(HELP_WIDTH).sortOptions(false);
        return spec;
    }

    /// Gives a command those of the settings that have a flag.
    public static void add(List<? extends Setting<?>> settings, CommandSpec spec) {
        settings.forEach(setting -> setting.flag().ifPresent(flag -> spec.addOption(option(setting, flag))));
    }

    /// The text of each flag that was given, by its name.
    public static Map<String, String> given(ParseResult parsed) {
        return parsed.matchedOptions().stream()
                .filter(option -> option.getValue() instanceof String)
                .collect(Collectors.toMap(OptionSpec::longestName, OptionSpec::<String>getValue));
    }

    /// The settings of a command that has one model for itself. Its log goes to stderr. Only what needs
    /// attention is logged, unless somebody wants more.
    ///
    /// @param environment the settings as variables
    /// @param flags the text of each flag that was given, by its name. They win
    /// @throws ConfigurationException holding all problems
    public static ServerConfig ofOneModel(Map<String, String> environment, Map<String, String> flags, Path home) {
        var variables = new HashMap<>(environment);
        variables.remove("BERTH_MODELS");
        variables.putIfAbsent("SAGEMAKER_CONTAINER_LOG_LEVEL", "WARN");
        var configuration = Configuration.read(variables, flags, home, Routes::has);
        Logging.configure(configuration.config(), new FileOutputStream(FileDescriptor.err));
        configuration.warnings().forEach(log::warn);
        return configuration.config();
    }

    private static OptionSpec option(Setting<?> setting, String flag) {
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
                        "  Default: " + setting.rule())
                .build();
    }

    /// The help of settings that have no flag.
    static String[] withoutFlag() {
        var lines = new ArrayList<>(List.of("", "Set in the environment only:"));
        Configuration.SETTINGS.stream()
                .filter(setting -> setting.flag().isEmpty())
                .forEach(setting -> {
                    lines.add("  " + String.join(", ", setting.variables()));
                    lines.add("      %s. Default: %s".formatted(setting.meaning(), setting.rule()));
                });
        return lines.toArray(String[]::new);
    }

    private static String version() {
        return Optional.ofNullable(ServeOptions.class.getPackage().getImplementationVersion())
                .orElse("(unpackaged)");
    }
}
