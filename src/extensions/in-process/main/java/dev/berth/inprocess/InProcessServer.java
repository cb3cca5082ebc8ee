package dev.berth.inprocess;

import dev.berth.command.Logging;
import dev.berth.command.Server;
import dev.berth.command.StartException;
import dev.berth.config.Configuration;
import dev.berth.config.ConfigurationException;
import dev.berth.http.Routes;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A server of one model that a [dev.berth.command.Subcommand] asks, for this process alone: it listens on a free
/// port of this machine, without TLS, and its log goes to stderr. For one thread.
public final class InProcessServer implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(InProcessServer.class);

    private final Server server;

    private InProcessServer(Server server) {
        this.server = server;
    }

    /// Begins to load the model.
    ///
    /// @param environment the settings as variables; where the log has no level, it is `WARN`
    /// @param flags the text of each flag that was given, by its name. They win
    /// @throws ConfigurationException holding all problems of the settings
    public static InProcessServer start(Map<String, String> environment, Map<String, String> flags, Path home) {
        var variables = new HashMap<>(environment);
        variables.remove("BERTH_MODELS");
        variables.remove("BERTH_TLS_CERTIFICATE");
        variables.remove("BERTH_TLS_KEY");
        variables.put("SAGEMAKER_BIND_TO_PORT", "0");
        variables.put("BERTH_HOST", "127.0.0.1");
        variables.putIfAbsent("SAGEMAKER_CONTAINER_LOG_LEVEL", "WARN");
        var configuration = Configuration.read(variables, flags, home, Routes::has);
        Logging.configure(configuration.config().log(), new FileOutputStream(FileDescriptor.err));
        configuration.warnings().forEach(log::warn);
        return new InProcessServer(Server.start(configuration.config()));
    }

    /// Waits for the model.
    ///
    /// @return where the server listens
    /// @throws StartException when there is none
    public URI awaitReady() throws InterruptedException, StartException {
        server.awaitReady();
        return URI.create("http://127.0.0.1:" + server.port());
    }

    @Override
    public void close() throws Exception {
        server.close();
    }
}
