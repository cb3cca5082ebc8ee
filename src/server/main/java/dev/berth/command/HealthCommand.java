package dev.berth.command;

import dev.berth.config.ConfigurationException;
import dev.berth.config.HttpConfig;
import dev.berth.config.Platform;
import dev.berth.config.ServerConfig;
import dev.berth.config.Setting;
import java.io.IOException;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;

/// The `serve health` command: asks the `/ping` of the server that has the same settings. For a
/// `HEALTHCHECK`, so it is small, quick, and says nothing as long as all is well.
@Command(
        name = HealthCommand.NAME,
        customSynopsis = "serve health [option]...",
        description = {
            "Asks /ping of the server of this container. Exit code 0: it can answer. 1: it can't, or is not there.",
            "A port that the server got as a flag must be given here too.",
            ""
        })
public final class HealthCommand implements Subcommand {

    static final String NAME = "health";

    /// Whatever else is set does not matter.
    private static final List<Setting<?>> SETTINGS = List.of(HttpConfig.PORT, HttpConfig.HOST);

    private static final int TIMEOUT_MILLIS = 5_000;

    @Override
    public CommandSpec spec() {
        return ServeOptions.with(CommandSpec.forAnnotatedObject(this), SETTINGS);
    }

    @Override
    public int run(Map<String, String> environment, Path home, ParseResult parsed) throws StartException {
        return run(environment, ServeOptions.given(parsed));
    }

    /// @param flags the text of each flag that was given, by its name
    static int run(Map<String, String> environment, Map<String, String> flags) throws StartException {
        var problems = new ArrayList<String>();
        var config = new ServerConfig(SETTINGS, new Platform(environment, Path.of("")), flags, problems::add);
        int port = config.get(HttpConfig.PORT);
        if (port == 0) {
            problems.add("port: found 0, expected the one that the server listens on");
        }
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
        var host = HttpConfig.inUrl(config.get(HttpConfig.HOST), "127.0.0.1");
        ask(URI.create("http://%s:%d/ping".formatted(host, port)));
        return ExitCode.OK;
    }

    private static void ask(URI ping) throws StartException {
        try {
            // The newer client takes twice as long to start.
            var connection = (HttpURLConnection) ping.toURL().openConnection();
            connection.setConnectTimeout(TIMEOUT_MILLIS);
            connection.setReadTimeout(TIMEOUT_MILLIS);
            int status = connection.getResponseCode();
            if (status == HttpURLConnection.HTTP_OK) {
                return;
            }
            try (var body = connection.getErrorStream()) {
                var why = body == null ? "" : ": " + new String(body.readAllBytes(), StandardCharsets.UTF_8);
                throw new StartException("%s: found %d, expected 200%s".formatted(ping, status, why));
            }
        } catch (ConnectException e) {
            throw new StartException("%s: no server listens there: %s; start it, or name its port with --port"
                    .formatted(ping, e.getMessage()));
        } catch (IOException e) {
            throw new StartException("%s: %s".formatted(ping, e));
        }
    }
}
