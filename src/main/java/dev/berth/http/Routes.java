package dev.berth.http;

import static dev.berth.http.Route.Of.CLIENT;
import static dev.berth.http.Route.Of.HEALTH;
import static dev.berth.http.Route.Of.MANY;
import static dev.berth.http.Route.Of.ONE;
import static dev.berth.http.Route.Of.PAGE;
import static dev.berth.http.Route.Of.SERVER;
import static dev.berth.http.Route.at;
import static io.javalin.http.HandlerType.GET;
import static io.javalin.http.HandlerType.POST;

import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.http.clients.ClientPath;
import dev.berth.http.connections.Pace;
import dev.berth.http.page.Operations;
import dev.berth.http.page.Page;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.Health;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.many.Served;
import dev.berth.telemetry.Tracing;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import io.javalin.router.Endpoint;
import jakarta.servlet.http.HttpServletResponse;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Registers those of [Route#ALL] that a server has, and the paths that its settings name. Has the
/// handlers that are for no model.
public final class Routes {

  private static final String START_MANY =
      "this server has one model, at /invocations; SAGEMAKER_MULTI_MODEL=true starts one that loads and unloads models, "
          + "--models one that serves all of a directory";
  private static final String HAS_MANY =
      "this server has many models; POST /models/{name}/invoke asks one, GET /models lists them";

  /// To refuse takes about 0.2 ms of a core, and may take a tenth of the cores.
  private static final long REFUSAL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  /// Not longer than what `Retry-After` says.
  private final Pace refusals = new Pace(TimeUnit.SECONDS.toNanos(1));

  /// To write the metrics takes about two thousandths of a second, and may take a tenth of the
  /// cores.
  private static final long SCRAPE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final Pace scrapes = new Pace(SCRAPE_NANOS);

  // Guarded by the monitor of this.
  private long scrapeBegan;
  private byte[] scrape = {};

  private final ServerConfig config;
  private final Health health;
  private final Served served;
  private final ServingMetrics metrics;
  private final Invocations invocations;
  private final NamedModels named;
  private final Dialects dialects;
  private final Paths paths;
  private final RequestLog log;
  final Origins origins;
  final OpenInference v2;
  final Triton triton;
  final GrpcHealth grpcHealth;
  final GrpcReflection grpcReflection;
  final OpenAi openAi;
  final Page page;

  Routes(
      ServerConfig config,
      Health health,
      Served served,
      ServingMetrics metrics,
      Tracing tracing,
      Page page) {
    this.config = config;
    this.health = health;
    this.served = served;
    this.metrics = metrics;
    this.page = page;
    this.origins = new Origins(config.http().isLocal());
    this.named = new NamedModels(served, config.protocol().modelName());
    this.invocations = new Invocations(config, named);
    this.dialects = new Dialects(invocations);
    this.paths = Paths.of(here(), elsewhere());
    var untraced = new HashSet<>(healthPaths());
    untraced.add(config.http().metricsPath());
    this.log = new RequestLog(metrics, paths, tracing, untraced);
    this.v2 =
        new OpenInference(
            named,
            health,
            invocations,
            log,
            config.platform().isSageMaker() ? OpenInference.EXTENSIONS : Triton.EXTENSIONS);
    this.grpcHealth = new GrpcHealth(named, health, v2);
    this.grpcReflection = new GrpcReflection(invocations, health);
    this.triton = new Triton(config, named, invocations, v2, metrics);
    this.openAi = new OpenAi(named);
  }

  /// Whether a path is one of the server's own, and so can't be the one of a setting. Those of
  /// clients can, such as `/predict` on Vertex AI.
  public static boolean has(String path) {
    var own = Route.ALL.stream().filter(route -> route.of() != CLIENT).map(Route::path).toList();
    return Paths.find(own, path).isPresent();
  }

  void register(JavalinConfig javalin) {
    var routes = javalin.routes;
    var here = here();
    routes.before(log::begin);
    routes.before(this::closeWhenStopping);
    here.forEach(
        route ->
            routes.addEndpoint(
                new Endpoint(route.method(), route.path(), route.handler().apply(this))));
    // Sockets may have any path but those of requests. The page's and those of clients, which a
    // model may not have, are not among them.
    var ofRequests =
        here.stream().filter(route -> route.of() != PAGE && route.of() != CLIENT).toList();
    var sockets =
        new Sockets(
            handshake -> () -> named.enter(named.target(handshake), inTime()),
            !hasMany(),
            config,
            Paths.of(ofRequests, elsewhere()),
            origins,
            log,
            metrics,
            System::nanoTime);
    sockets.configure(javalin);
    sockets.register(routes, List.of(Sockets.PATH_OF_MODEL, "*"));
    routes.after(log::end);
    routes.after(this::holdRefused);
    new Failures(paths, config.platform().predictRoute()).map(routes);
  }

  boolean hasMany() {
    return served instanceof Served.Many;
  }

  /// The routes of this server. Those that settings name go before others at the same path.
  private List<Route> here() {
    var metricsPath = config.http().metricsPath();
    var set =
        Stream.of(
                Optional.of(at(SERVER, GET, metricsPath, Operations::metrics, s -> s::scrape)),
                config
                    .platform()
                    .healthRoute()
                    .map(path -> at(HEALTH, GET, path, Operations::ping, s -> s::ping)),
                config
                    .platform()
                    .predictRoute()
                    .map(path -> at(ONE, POST, path, Operations::predict, Routes::predict)))
            .flatMap(Optional::stream)
            .toList();
    var others = Route.ALL.stream().filter(route -> set.stream().noneMatch(route::isAt));
    return Stream.concat(set.stream(), others)
        .filter(
            route ->
                switch (route.of()) {
                  case SERVER, HEALTH -> true;
                  case ONE -> !hasMany();
                  case MANY -> hasMany();
                  case TRITON -> !config.platform().isSageMaker();
                  case DESK -> config.http().runtimeApi();
                  case GRPC -> config.protocol().grpcPort().isPresent();
                  case PAGE -> config.http().page();
                  case CLIENT -> !hasMany() && config.http().clientPaths();
                })
        .toList();
  }

  /// The paths of a server with another number of models.
  private Map<String, String> elsewhere() {
    var elsewhere = new HashMap<String, String>();
    Route.ALL.stream()
        .filter(route -> route.of() == (hasMany() ? ONE : MANY))
        .forEach(route -> elsewhere.put(route.path(), hasMany() ? HAS_MANY : START_MANY));
    if (config.http().runtimeApi()) {
      elsewhere.put(TorchServe.EXPLANATIONS, TorchServe.NO_EXPLANATIONS);
      elsewhere.put(TorchServe.EXPLANATIONS + TorchServe.VERSION, TorchServe.NO_EXPLANATIONS);
    }
    if (!hasMany()) {
      elsewhere.put(
          "/v1/responses",
          "of OpenAI's API there are chat completions, completions and embeddings");
    }
    return elsewhere;
  }

  /// Keeps callers who come again at once, whatever `Retry-After` says, from taking the cores that
  /// the model needs.
  ///
  /// A refusal costs far less than an answer, but comes back as soon as it has been read: sixteen
  /// such callers got 2,500 of them a second, and the model was left a fifth of its cores. So a
  /// refusal is sent at once, and its connection is not read again before the server can spare it.
  private void holdRefused(Context ctx) {
    if (ctx.attribute(Failures.REFUSED) != null) {
      refusals.pause(REFUSAL_NANOS);
    }
  }

  /// What says whether the server can answer.
  Set<String> healthPaths() {
    return here().stream()
        .filter(route -> route.of() == HEALTH || route.path().equals(GrpcHealth.CHECK))
        .map(Route::path)
        .collect(Collectors.toUnmodifiableSet());
  }

  private Deadline inTime() {
    return Deadline.in(config.batching().timeout(), System::nanoTime);
  }

  Handler ask() {
    return ctx -> invocations.ask(ctx, invocations::answer);
  }

  /// As TorchServe's clients ask.
  Handler predictions() {
    return ctx ->
        invocations.ask(
            ctx, Invocations.ANY_TIME, _ -> TorchServe.target(named, ctx), invocations::answer);
  }

  /// In the form of Vertex AI and of KServe's version 1.
  Handler predict() {
    return ctx -> invocations.ask(ctx, dialects::vertex);
  }

  Handler client(ClientPath path, ErrorForm errors) {
    return ctx -> {
      errors.choose(ctx);
      invocations.ask(ctx, asked -> dialects.client(path, asked));
    };
  }

  Handler executionParameters() {
    return new ExecutionParameters(
        config.transform(),
        () -> {
          try (var visit = served.enter(Served.NAME, inTime())) {
            return visit.liveWorkers();
          }
        });
  }

  Handler document() {
    return page.document(here());
  }

  /// Those of a server of many.
  Models models() {
    return new Models(((Served.Many) served).models(), invocations);
  }

  /// What becomes of an error of the JVM outside of the hooks.
  void fatal(HttpServletResponse response, Error error) {
    metrics.caught(error);
    Failures.fatal(response, error);
  }

  static void version(Context ctx) {
    ctx.result(ServingMetrics.version());
  }

  /// Says whether the server can answer, at once and whatever the workers do. A busy server is a
  /// healthy one.
  void ping(Context ctx) {
    health
        .problem()
        .ifPresentOrElse(
            problem ->
                ctx.status(ErrorType.NOT_READY.status())
                    .contentType(Errors.CONTENT_TYPE)
                    .result(Errors.body(ErrorType.NOT_READY, problem)),
            () -> ctx.status(200));
  }

  /// A server that stops wants its clients to go elsewhere, and not to send their next request
  /// here.
  private void closeWhenStopping(Context ctx) {
    if (health.isStopping()) {
      ctx.header("Connection", "close");
    }
  }

  /// It costs as much as a prediction. Who asks too often gets the last answer once more, and those
  /// who ask while others are answered share the next one, of which many may wait to be taken.
  private void scrape(Context ctx) {
    long asked = System.nanoTime();
    synchronized (this) {
      if (scrape.length == 0 || (scrapeBegan - asked < 0 && scrapes.isTurn(SCRAPE_NANOS))) {
        scrapeBegan = System.nanoTime();
        scrape = metrics.scrape().getBytes(StandardCharsets.UTF_8);
      }
      ctx.contentType(ServingMetrics.CONTENT_TYPE).result(scrape);
    }
  }
}
