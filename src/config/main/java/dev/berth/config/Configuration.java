package dev.berth.config;

import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// What the server was told, with what the operator should know about it.
///
/// @param effective every setting as it holds, in the order of [Settings#ALL]
/// @param warnings names that look like a slip of the pen, one line each
public record Configuration(ServerConfig config, List<Setting> effective, List<String> warnings) {

    static final Properties TEXTS = texts();

    static Reading reading(Map<String, String> environment, Map<String, String> flags, Predicate<String> isTaken) {
        return new Reading(TEXTS, environment, flags, isTaken);
    }

    /// Those of the server and of all extensions.
    private static Properties texts() {
        var texts = new Properties();
        Stream.concat(
                        Stream.of(Configuration.class),
                        ExtensionSettings.ALL.stream().map(Object::getClass))
                .forEach(declaring -> {
                    try (var in = declaring.getResourceAsStream("settings.properties")) {
                        texts.load(new InputStreamReader(in, StandardCharsets.UTF_8));
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                });
        return texts;
    }

    /// The same for a model that no server has.
    public static Configuration read(Map<String, String> variables, Map<String, String> flags, Path home) {
        return read(variables, flags, home, _ -> false);
    }

    /// Reads every setting. A flag wins over the environment; an empty value counts as unset.
    ///
    /// @param flags the text of each flag given, by its name with the dashes
    /// @param home the directory of the `serve` script, where the sample model is
    /// @param isTaken whether a path is one of the server's own
    /// @throws ConfigurationException holding all problems
    public static Configuration read(
            Map<String, String> variables, Map<String, String> flags, Path home, Predicate<String> isTaken) {
        var reading = reading(VariableNames.withoutServiceLinks(variables), flags, isTaken);
        var config = ServerConfig.read(reading, home);
        VariableNames.check(reading);
        if (!reading.problems().isEmpty()) {
            // A slip may be the cause of a problem, so it is told along with them.
            throw new ConfigurationException(Stream.concat(reading.problems().stream(), reading.warnings().stream())
                    .toList());
        }
        return new Configuration(config, reading.settings(), reading.warnings());
    }

    /// Where the server of these settings answers `/ping` to its own machine. Whatever else is set
    /// does not matter.
    ///
    /// @throws ConfigurationException when the port is not known
    public static URI ping(Map<String, String> environment, Map<String, String> flags) {
        var reading = reading(environment, flags, _ -> false);
        int port = HttpConfig.port(reading);
        var host = HttpConfig.host(reading);
        if (port == 0 && reading.problems().isEmpty()) {
            reading.problem("port: found 0, expected the one that the server listens on");
        }
        if (!reading.problems().isEmpty()) {
            throw new ConfigurationException(reading.problems());
        }
        return URI.create("http://%s:%d/ping".formatted(HttpConfig.inUrl(host, "127.0.0.1"), port));
    }

    /// How the log of these settings looks, also where others are wrong.
    public static LogConfig log(Map<String, String> environment, Map<String, String> flags) {
        return LogConfig.read(reading(environment, flags, _ -> false));
    }

    /// The flags that serve the sample, where no setting names a model and the place of a mounted one
    /// is empty.
    public static Map<String, String> flagsOfTheSample(Map<String, String> environment, Path home) {
        var reading = reading(environment, Map.of(), _ -> false);
        var model = ServerConfig.read(reading, home);
        var sample = ModelConfig.sample(home);
        var mounted = ModelConfig.mounted(reading).toFile().list();
        boolean isLost =
                mounted != null && mounted.length == 0 && !model.multiModel().enabled() && !reading.isSet("model-dir");
        return isLost && Files.isDirectory(sample) ? Map.of("--model-dir", sample.toString()) : Map.of();
    }
}
