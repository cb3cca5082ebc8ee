package dev.berth.config;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.ServiceLoader;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What the server was told, with what the operator should know about it.
///
/// @param warnings names that look like a slip of the pen, one line each
public record Configuration(ServerConfig config, List<String> warnings) {

    /// Those of extensions come last, in the same order whatever the class path's.
    private static final List<SettingGroup> GROUPS = Stream.concat(
                    Stream.of(new HttpConfig(), new ModelConfig(), new ServingConfig(), new MonitoringConfig()),
                    ServiceLoader.load(SettingGroup.class).stream()
                            .sorted(Comparator.comparing(group -> group.type().getName()))
                            .map(ServiceLoader.Provider::get))
            .toList();

    /// Every setting there is. Extensions that share one have it each.
    public static final List<Setting<?>> SETTINGS = List.copyOf(GROUPS.stream()
            .flatMap(group -> Settings.of(group.getClass()).all().stream())
            .collect(Collectors.<Setting<?>, String, Setting<?>, SequencedMap<String, Setting<?>>>toMap(
                    Setting::name, Function.identity(), (first, _) -> first, LinkedHashMap::new))
            .values());

    /// The same for a model that no server has.
    public static Configuration read(Map<String, String> variables, Map<String, String> flags, Path home) {
        return read(variables, flags, home, _ -> false);
    }

    /// Reads every setting, once, at start.
    ///
    /// @param flags the text of each flag given, by its name with the dashes
    /// @param home the directory of the `serve` script, where the sample model is
    /// @param isTaken whether a path is one of the server's own
    /// @throws ConfigurationException holding all problems
    public static Configuration read(
            Map<String, String> variables, Map<String, String> flags, Path home, Predicate<String> isTaken) {
        var findings = new Findings(isTaken);
        var config = new ServerConfig(SETTINGS, new Platform(variables, home), flags, findings::problem);
        GROUPS.forEach(group -> group.check(config, findings));
        VariableNames.check(config.platform().environment(), SETTINGS, findings);
        if (!findings.problems().isEmpty()) {
            // A slip may be the cause of a problem, so it is told along with them.
            throw new ConfigurationException(Stream.concat(findings.problems().stream(), findings.warnings().stream())
                    .toList());
        }
        return new Configuration(config, findings.warnings());
    }
}
