package dev.berth.http;

import dev.berth.config.HttpConfig;
import dev.berth.config.ServerConfig;
import dev.berth.http.connections.Connections;
import dev.berth.metrics.ServingMetrics;
import dev.berth.telemetry.Exporter.Export;
import io.javalin.Javalin;
import io.javalin.compression.CompressionStrategy;
import io.javalin.config.JavalinConfig;
import io.javalin.util.JavalinException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.http.UriCompliance.Violation;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.LocalConnector;
import org.eclipse.jetty.server.NetworkConnector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.handler.GracefulHandler;
import org.eclipse.jetty.session.NullSessionCacheFactory;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The listener: Javalin on Jetty. Connections are accepted and selected on a few platform threads;
/// each request runs on a virtual thread of its own.
public final class HttpServer implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(HttpServer.class);

    /// How long a response may still take to leave after its model has stopped.
    private static final Duration LAST_RESPONSES = Duration.ofSeconds(3);

    /// For acceptors and selectors. What is readable is read on threads of its own, as requests have
    /// them; more of these would only take the processors from them.
    private static final int THREADS = Math.max(16, 4 * Runtime.getRuntime().availableProcessors());

    /// SageMaker's own headers may have 1024 characters each.
    private static final int MAX_HEADER_BYTES = 32 << 10;

    /// Enough for nearly every answer.
    private static final int OUTPUT_BUFFER_BYTES = 8 << 10;

    private static final String PING = "GET /ping HTTP/1.0\r\n\r\n";

    private final Javalin javalin;
    private final Connections connections;

    /// For the thread that asks.
    private long openedBefore;

    /// Listens; models may still be loading.
    ///
    /// @throws RuntimeException when the port is taken
    public HttpServer(ServerConfig config, NamedModels models, ServingMetrics metrics, Export tracing) {
        var routes = new Routes(config, models, metrics, tracing);
        connections = new Connections(config, metrics, MalformedRequests::slowHead, MalformedRequests::overloaded);
        javalin = Javalin.create(settings -> {
            configure(settings, config, routes);
            Routes.listeners(config).forEach(listener -> listen(settings, config, listener));
            settings.jetty.addConnector(HttpServer::inside);
        });
        javalin.start();
        connections.watch(javalin.jettyServer().server().getScheduler());
    }

    /// The port that it listens on: another than the configured one where that is 0.
    public int port() {
        return javalin.port();
    }

    /// The ports of protocols that have one of their own.
    public Map<String, Integer> otherPorts() {
        return Arrays.stream(javalin.jettyServer().server().getConnectors())
                .filter(connector ->
                        connector instanceof NetworkConnector && !Listener.HTTP.equals(connector.getName()))
                .collect(Collectors.toMap(
                        Connector::getName, connector -> ((NetworkConnector) connector).getLocalPort()));
    }

    /// Whether the server works where its port has no answer, because others crowd it: connections
    /// have been opened since this was last asked, and `/ping` has an answer inside of the process,
    /// whatever it is. No client can get in the way of that.
    public boolean worksInside(Duration patience) {
        long opened = connections.opened.get();
        boolean hasOpened = opened > openedBefore;
        openedBefore = opened;
        var inside = javalin.jettyServer().server().getBean(LocalConnector.class);
        try {
            return hasOpened && inside.getResponse(PING, patience.toMillis(), TimeUnit.MILLISECONDS) != null;
        } catch (Exception | Error _) {
            return false;
        }
    }

    private static Connector inside(Server server, HttpConfiguration http) {
        var threads = Thread.ofVirtual().name("berth-inside");
        return new LocalConnector(server, threads::start, null, null, -1, new HttpConnectionFactory(http));
    }

    /// Refuses what does not wait for its answer.
    public void drain() {
        draining().forEach(Draining::refuse);
    }

    /// How long what waits for objects may take to close.
    public Duration mostToClose() {
        return draining().stream().map(Draining::mostToStop).reduce(Duration.ZERO, Duration::plus);
    }

    private Collection<Draining> draining() {
        return javalin.jettyServer().server().getBeans(Draining.class);
    }

    /// Waits for responses that are being written, then closes the listener and every connection. A
    /// client that has not taken its response within [#LAST_RESPONSES], or takes nothing of it for a
    /// second, loses it.
    @Override
    public void close() {
        // Where Jetty begins to stop, it fails what is being written to a connection that was silent for a
        // second: the end of a stream that waited for its next part.
        javalin.jettyServer()
                .server()
                .getDescendant(GracefulHandler.class)
                .shutdown()
                .copy()
                .completeOnTimeout(null, 1, TimeUnit.SECONDS)
                .join();
        try {
            javalin.stop();
        } catch (JavalinException e) {
            if (!(e.getCause() instanceof TimeoutException)) {
                throw e;
            }
            log.warn(
                    "cut off responses that had not left {} s after the model had stopped", LAST_RESPONSES.toSeconds());
        }
    }

    private void listen(JavalinConfig settings, ServerConfig config, Listener listener) {
        settings.jetty.addConnector((server, http) -> {
            var connector = listener.speaking().of(server, http, connections);
            connector.setHost(config.get(HttpConfig.HOST));
            connector.setPort(listener.port());
            connector.setName(listener.protocol());
            // Connections wait here until they are accepted; with Jetty's 50, the kernel lets the
            // next ones try again after a second.
            connector.setAcceptQueueSize(4096);
            connector.setIdleTimeout(Invocations.idle(config).toMillis());
            return connector;
        });
    }

    private void configure(JavalinConfig settings, ServerConfig config, Routes routes) {
        settings.startup.showJavalinBanner = false;
        settings.startup.showOldJavalinVersionWarning = false;
        settings.startup.startupWatcherEnabled = false;
        settings.http.compressionStrategy = CompressionStrategy.NONE;
        settings.http.prefer405over404 = true;
        settings.router.ignoreTrailingSlashes = false;
        settings.router.javaLangErrorHandler(routes::fatal);
        settings.jetty.threadPool = threads();
        var requests = new OpenRequests(HttpConfig.tls(config).isPresent(), connections, routes.healthPaths());
        settings.jetty.modifyServer(server -> configure(server, requests, new MalformedRequests(routes::errors)));
        settings.jetty.modifyHttpConfiguration(HttpServer::configure);
        // Jetty would redirect a request without a path.
        settings.jetty.modifyServletContextHandler(context -> {
            context.getSessionHandler().setUsingCookies(false);
            context.setAllowNullPathInContext(true);
            context.getServletHandler().setDecodeAmbiguousURIs(true);
        });
        routes.register(settings);
    }

    private static QueuedThreadPool threads() {
        var threads = new QueuedThreadPool(THREADS);
        threads.setName("berth-http");
        threads.setVirtualThreadsExecutor(Executors.newThreadPerTaskExecutor(
                Thread.ofVirtual().name("berth-request-", 0).factory()));
        return threads;
    }

    private static void configure(Server server, Handler requests, MalformedRequests malformed) {
        server.setHandler(new GracefulHandler(requests));
        server.setStopTimeout(LAST_RESPONSES.toMillis());
        server.setErrorHandler(malformed);
        // Javalin asks for the HTTP session of each handshake. Jetty would keep it for ever.
        server.addBean(new NullSessionCacheFactory());
    }

    private static void configure(HttpConfiguration http) {
        http.setRequestHeaderSize(MAX_HEADER_BYTES);
        http.setSendServerVersion(false);
        http.addCustomizer(Headers::inUtf8);
        // The name of a model may have any character, and is one segment of a path.
        http.setUriCompliance(UriCompliance.DEFAULT.with(
                "BERTH",
                Violation.AMBIGUOUS_PATH_SEPARATOR,
                Violation.AMBIGUOUS_PATH_ENCODING,
                Violation.SUSPICIOUS_PATH_CHARACTERS));
        // They are not pooled, and those of the heap cost next to nothing to make.
        http.setUseInputDirectByteBuffers(false);
        http.setUseOutputDirectByteBuffers(false);
        http.setOutputBufferSize(OUTPUT_BUFFER_BYTES);
    }
}
