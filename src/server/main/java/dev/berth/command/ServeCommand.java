package dev.berth.command;

import dev.berth.artifact.code.Thrown;
import dev.berth.config.Configuration;
import dev.berth.config.ConfigurationException;
import dev.berth.config.HttpConfig;
import dev.berth.config.ModelConfig;
import dev.berth.config.ServerConfig;
import dev.berth.config.Setting;
import dev.berth.engine.Engine;
import dev.berth.http.Routes;
import dev.berth.memory.RequestMemory.ProcessMemory;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.net.SocketException;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;

/// The `serve` command: reads the settings, starts the server and keeps it until the process is
/// told to stop.
///
/// Runs on the main thread. Why the server can't start is said once. A known reason is one line on
/// stderr, where every command says why it ends, and where no stack hides it; of a log in JSON, it
/// is an event. Anything else goes to the log with its stack.
final class ServeCommand {

    static final String NAME = "serve";

    /// What a stop may take beyond the time in which requests end: that of connections and of what is
    /// exported last.
    private static final Duration LAST_STEPS = Duration.ofSeconds(7);

    private static final Logger log = LoggerFactory.getLogger(ServeCommand.class);

    private final Map<String, String> environment;
    private final Path home;
    private final OrderlyStop stop;

    /// Taken before prints go to the log.
    private final PrintStream err = System.err;

    private boolean isJson;

    ServeCommand(Map<String, String> environment, Path home, OrderlyStop stop) {
        this.environment = Map.copyOf(environment);
        this.home = home;
        this.stop = stop;
    }

    static CommandSpec spec() {
        var spec = ServeOptions.with(CommandSpec.create(), Configuration.SETTINGS);
        spec.usageMessage()
                .customSynopsis("serve [option]...", "serve COMMAND [option]...")
                .description(
                        "Serves a model as a SageMaker container does: /ping and /invocations.",
                        "A flag wins over the environment.",
                        "")
                .footer(ServeOptions.withoutFlag());
        return spec;
    }

    /// Blocks for as long as the server runs. [OrderlyStop] ends the process.
    ///
    /// @param flags the text of each flag that was given, by its name
    /// @return the exit code, when the server can't run
    int run(Map<String, String> flags) {
        try {
            var configuration = Configuration.read(environment, flags, home, Routes::has);
            // Of all that is to be done it takes the longest, so it comes first.
            engines(configuration.config()).forEach(Engine::preload);
            isJson = Logging.isJson(configuration.config());
            Logging.configure(configuration.config(), new LogWriter(new FileOutputStream(FileDescriptor.out)));
            Logging.takeOverPrints();
            announce(configuration);
            return serve(configuration.config());
        } catch (ConfigurationException e) {
            var how = Logging.settings(environment, flags);
            isJson = Logging.isJson(how);
            if (isJson) {
                Logging.configure(how, new FileOutputStream(FileDescriptor.out));
            }
            e.problems().forEach(this::explain);
            return ExitCode.USAGE;
        } catch (Exception | Error e) {
            log.error("the server can't start", e);
            return OrderlyStop.end(ExitCode.SOFTWARE);
        }
    }

    /// Those that the model needs, or that any model may.
    private static List<Engine> engines(ServerConfig config) {
        return ModelConfig.areMany(config) ? Engine.ALL : Deployment.engines(config.get(ModelConfig.MODEL_DIR));
    }

    private int serve(ServerConfig config) throws Exception {
        Server server;
        try {
            server = Server.start(config);
        } catch (Exception e) {
            notListening(config, e).ifPresentOrElse(this::explain, () -> log.error("the server can't start", e));
            return OrderlyStop.end(ExitCode.SOFTWARE);
        }
        Thread.setDefaultUncaughtExceptionHandler((thread, e) -> {
            server.caught(e);
            log.error("{} ends", thread.getName(), e);
        });
        stop.closes(server, server.mostToClose().plus(LAST_STEPS));
        try {
            server.awaitReady();
            Routes.announcements(config, address(config, server.port())).forEach(line -> log.info("{}", line));
        } catch (StartException e) {
            if (stop.withdraw()) {
                if (e.saysWhy()) {
                    explain(e.getMessage());
                } else {
                    log.error(e.getMessage(), e.getCause());
                }
                server.close();
                return OrderlyStop.end(ExitCode.SOFTWARE);
            }
        }
        return new Pulse(config.get(HttpConfig.HOST), server, stop).watch();
    }

    private static void announce(Configuration configuration) {
        configuration.warnings().forEach(log::warn);
        var settings =
                configuration.config().effective().stream().collect(Collectors.partitioningBy(Setting.Value::isChosen));
        settings.get(true).forEach(setting -> log.info("{}", setting));
        settings.get(false).forEach(setting -> log.debug("{}", setting));
        log.info(
                "{} settings have their defaults; --log-level debug lists them",
                settings.get(false).size());
        var runtime = Runtime.getRuntime();
        log.info(
                "Java {}, {} processors, {} MiB of heap at most, {} MiB for the body of a request",
                Runtime.version(),
                runtime.availableProcessors(),
                runtime.maxMemory() >> 20,
                Math.min(
                                configuration.config().get(HttpConfig.MAX_PAYLOAD),
                                ProcessMemory.ofThisProcess().large().bytes())
                        >> 20);
    }

    private static String address(ServerConfig config, int port) {
        var host = HttpConfig.inUrl(config.get(HttpConfig.HOST), "localhost");
        return "%s://%s:%d".formatted(HttpConfig.tls(config).isPresent() ? "https" : "http", host, port);
    }

    private static Optional<String> notListening(ServerConfig config, Exception e) {
        return Thrown.chain(e)
                .filter(cause -> cause instanceof SocketException
                        || cause instanceof UnresolvedAddressException
                        // Such as :: where there is no IPv6.
                        || cause instanceof UnsupportedAddressTypeException)
                .findFirst()
                .map(cause ->
                        "can't listen on %s port %s: %s; choose another with --host, --port or SAGEMAKER_BIND_TO_PORT"
                                .formatted(
                                        config.get(HttpConfig.HOST),
                                        Routes.listeners(config).stream()
                                                .map(listener -> String.valueOf(listener.port()))
                                                .collect(Collectors.joining(" or port ")),
                                        cause instanceof SocketException ? cause.getMessage() : cause));
    }

    private void explain(String reason) {
        if (isJson) {
            log.error("{}", reason);
        } else {
            err.println(shown(reason));
        }
    }

    /// One line, except for errors of the compiler: these are a line of code and a caret below it.
    static String shown(String reason) {
        return reason.lines().anyMatch(line -> line.startsWith(" "))
                ? reason
                : reason.lines().collect(Collectors.joining("; "));
    }
}
