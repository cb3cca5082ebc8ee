package dev.berth.http;

import dev.berth.config.HttpConfig;
import dev.berth.config.MonitoringConfig;
import dev.berth.config.ServerConfig;
import dev.berth.http.Protocol.Claim;
import dev.berth.http.connections.Pace;
import dev.berth.http.connections.PeerAwareConnector;
import dev.berth.metrics.ServingMetrics;
import dev.berth.telemetry.Exporter.Export;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.router.Endpoint;
import jakarta.servlet.http.HttpServletResponse;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Registers those routes of all protocols that a server has.
public final class Routes {

    private static final List<Protocol> ALL =
            ServiceLoader.load(Protocol.class, Protocol.class.getClassLoader()).stream()
                    .map(ServiceLoader.Provider::get)
                    .toList();

    private static final String START_MANY =
            "this server has one model, at /invocations; SAGEMAKER_MULTI_MODEL=true starts one that loads and unloads models, "
                    + "--models one that serves all of a directory";
    private static final String HAS_MANY =
            "this server has many models; POST /models/{name}/invoke asks one, GET /models lists them";

    /// To refuse takes about 0.2 ms of a core, and may take a tenth of the cores.
    private static final long REFUSAL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /// Not longer than what `Retry-After` says.
    private final Pace refusals = new Pace(TimeUnit.SECONDS.toNanos(1));

    private final ServerConfig config;
    private final NamedModels models;
    private final List<Protocol> on;
    private final List<Route> here;
    private final ServerParts parts;

    public Routes(ServerConfig config, NamedModels models, ServingMetrics metrics, Export tracing) {
        this.config = config;
        this.models = models;
        this.on = on(config).toList();
        this.here = of(config, models.hasMany());
        var requests = of(config, models.hasMany(), protocol -> protocol.claim() == Claim.ALL);
        var paths = new Paths(paths(here), elsewhere(), paths(requests));
        var untraced = new HashSet<>(healthPaths());
        untraced.add(config.get(MonitoringConfig.METRICS_PATH));
        var log = new RequestLog(metrics, paths, tracing, untraced);
        this.parts = new ServerParts(config, models, metrics, log, paths);
    }

    /// Whether a path is one of the server's own, and so can't be the one of a setting.
    public static boolean has(String path) {
        var own = ALL.stream()
                .filter(protocol -> protocol.claim() != Claim.NONE)
                .flatMap(protocol -> protocol.routes().stream().map(Route::path))
                .toList();
        return Paths.find(own, path).isPresent();
    }

    /// All ports, the server's own first.
    public static List<Listener> listeners(ServerConfig config) {
        return Stream.concat(
                        Stream.of(new Listener(config.get(HttpConfig.PORT), Listener.HTTP, PeerAwareConnector::of)),
                        on(config).flatMap(protocol -> protocol.listener(config).stream()))
                .toList();
    }

    /// What protocols say of themselves.
    ///
    /// @param address of the server, such as `http://localhost:8080`
    public static List<String> announcements(ServerConfig config, String address) {
        return on(config)
                .flatMap(protocol -> protocol.announcement(address).stream())
                .toList();
    }

    private static Stream<Protocol> on(ServerConfig config) {
        return ALL.stream().filter(protocol -> protocol.isOn(config));
    }

    public void register(JavalinConfig javalin) {
        var routes = javalin.routes;
        var log = parts.log();
        routes.before(log::begin);
        routes.before(this::closeWhenStopping);
        here.forEach(route -> routes.addEndpoint(
                new Endpoint(route.method(), route.path(), route.handler().apply(parts))));
        on.forEach(protocol -> protocol.configure(javalin, parts));
        routes.after(log::end);
        routes.after(this::holdRefused);
        new Failures(parts.paths(), this::errors).map(routes);
    }

    /// The routes of a server. Those that settings name go before others at the same path.
    public static List<Route> of(ServerConfig config, boolean hasMany) {
        return of(config, hasMany, _ -> true);
    }

    private static List<Route> of(ServerConfig config, boolean hasMany, Predicate<Protocol> which) {
        var named =
                on(config).flatMap(protocol -> protocol.named(config).stream()).toList();
        var others = on(config)
                .filter(which)
                .flatMap(protocol -> protocol.routes().stream())
                .filter(route -> named.stream().noneMatch(route::isAt));
        return Stream.concat(named.stream(), others)
                .filter(route -> route.isHere(hasMany))
                .toList();
    }

    private static Set<String> paths(List<Route> routes) {
        return routes.stream().map(Route::path).collect(Collectors.toUnmodifiableSet());
    }

    /// The paths of a server with another number of models, with what to say to those who ask.
    private Map<String, String> elsewhere() {
        boolean hasMany = models.hasMany();
        return on.stream()
                .filter(protocol -> protocol.claim() != Claim.NONE)
                .flatMap(protocol -> protocol.routes().stream())
                .filter(route -> !route.isHere(hasMany))
                .collect(Collectors.toMap(Route::path, _ -> hasMany ? HAS_MANY : START_MANY, (same, _) -> same));
    }

    /// Keeps callers who come again at once, whatever `Retry-After` says, from taking the cores that
    /// the model needs.
    ///
    /// A refusal costs far less than an answer, but comes back as soon as it has been read: sixteen
    /// such callers got 2,500 of them a second, and the model was left a fifth of its cores. So a
    /// refusal is sent at once, and its connection is not read again before the server can spare it.
    private void holdRefused(Context ctx) {
        if (RequestLog.of(ctx).isRefused()) {
            refusals.pause(REFUSAL_NANOS);
        }
    }

    /// What says whether the server can answer.
    Set<String> healthPaths() {
        return here.stream().filter(Route::isForHealth).map(Route::path).collect(Collectors.toUnmodifiableSet());
    }

    /// The form of errors at a path, with a route or without.
    ErrorForm errors(String path) {
        return first(protocol -> protocol.errors(path, config));
    }

    private ErrorForm errors(Context ctx) {
        ErrorForm ofRoute = ctx.attribute(Route.ERRORS);
        return ofRoute == null ? first(protocol -> protocol.errors(ctx, config)) : ofRoute;
    }

    private static ErrorForm first(Function<Protocol, Optional<ErrorForm>> form) {
        return ALL.stream()
                .flatMap(protocol -> form.apply(protocol).stream())
                .findFirst()
                .orElse(ErrorForm.PLAIN);
    }

    /// What becomes of an error of the JVM outside of the hooks.
    void fatal(HttpServletResponse response, Error error) {
        parts.metrics().caught(error);
        Failures.fatal(response, error);
    }

    /// A server that stops wants its clients to go elsewhere, and not to send their next request
    /// here.
    private void closeWhenStopping(Context ctx) {
        if (models.health().isStopping()) {
            ctx.header("Connection", "close");
        }
    }
}
