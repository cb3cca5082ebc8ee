package dev.berth.http;

import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.http.page.Page;
import dev.berth.memory.ProcessMemory;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.Deadline;
import dev.berth.serving.Health;
import dev.berth.serving.ManyModels;
import dev.berth.serving.Served;
import dev.berth.serving.ServedModel;
import dev.berth.telemetry.Tracing;
import io.javalin.config.JavalinConfig;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import jakarta.servlet.http.HttpServletResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Every route of the server.
final class Routes {

  private static final String START_MANY =
      "this server has one model, at /invocations; SAGEMAKER_MULTI_MODEL=true starts one that loads and unloads models, "
          + "--models one that serves all of a directory";
  private static final String MANY =
      "this server has many models; POST /models/{name}/invoke asks one, GET /models lists them";

  /// What asks the model. SageMaker's OpenAI-compatible path forwards to the paths of OpenAI.
  private static final List<String> INVOCATIONS =
      Stream.concat(Stream.of("/invocations", "/inferences"), OpenAi.ASKING.stream()).toList();

  /// What to say to those who ask a server of one model for a path of many.
  private static final Map<String, String> OF_MANY =
      Map.of(
          "/models",
          START_MANY,
          "/models/{name}",
          START_MANY,
          "/models/{name}/invoke",
          START_MANY,
          Sockets.PATH_OF_MODEL,
          START_MANY,
          "/v1/responses",
          "of OpenAI's API there are chat completions, completions and embeddings");

  /// The other way round.
  private static final Map<String, String> OF_ONE =
      Stream.concat(
              INVOCATIONS.stream(), Stream.of("/execution-parameters", Sockets.PATH, OpenAi.MODELS))
          .collect(Collectors.toMap(Function.identity(), _ -> MANY));

  /// To refuse takes about a thousandth of a second, and may take a tenth of the cores.
  private static final long REFUSAL_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /// Not longer than what `Retry-After` says.
  private final Pace refusals =
      new Pace(
          Runtime.getRuntime().availableProcessors(),
          TimeUnit.SECONDS.toNanos(1),
          System::nanoTime);

  /// To write the metrics takes about two thousandths of a second, and may take a tenth of the
  /// cores.
  private static final long SCRAPE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /// So long that a connection's turn comes before, for as many as the server takes.
  private final Pace scrapes =
      new Pace(
          Runtime.getRuntime().availableProcessors(),
          TimeUnit.SECONDS.toNanos(30),
          System::nanoTime);

  private final ReentrantLock scraping = new ReentrantLock();
  // Guarded by the lock.
  private long scrapeBegan;
  private byte[] scrape = {};

  private final ServerConfig config;
  private final Health health;
  private final Served served;
  private final ServingMetrics metrics;
  private final Tracing tracing;
  private final Page page;

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
    this.tracing = tracing;
    this.page = page;
  }

  void register(JavalinConfig javalin) {
    var routes = javalin.routes;
    var metricsPath = config.http().metricsPath();
    var platform = config.platform();
    boolean hasMany = served instanceof Served.Many;
    var all = Paths.of(javalin, hasMany ? OF_ONE : OF_MANY);
    var untraced =
        Stream.concat(healthPaths().stream(), Stream.of(metricsPath))
            .collect(Collectors.toUnmodifiableSet());
    var log = new RequestLog(metrics, all, tracing, untraced);

    routes.before(log::begin);
    routes.before(this::closeWhenStopping);
    routes.get("/ping", this::ping);
    routes.post("/ping", this::ping);
    platform
        .healthRoute()
        .filter(path -> !path.equals("/ping"))
        .ifPresent(path -> routes.get(path, this::ping));
    switch (served) {
      case Served.One(var model) -> register(routes, _ -> model.enter(), model::liveWorkers);
      case Served.Watched watched -> register(routes, watched::enter, () -> liveWorkers(watched));
      case Served.Many(var models) -> register(routes, models);
    }
    var named = new NamedModels(served, config.protocol().modelName());
    var ofNamed =
        invocations((ctx, deadline) -> named.enter(named.target(Models.name(ctx), ""), deadline));
    new OpenInference(named, health, ofNamed, config.protocol().grpcPort().isPresent())
        .register(routes);
    routes.get(metricsPath, this::scrape);
    var sockets =
        new Sockets(this::model, !hasMany, config, all.soFar(), log, metrics, System::nanoTime);
    sockets.configure(javalin);
    if (config.http().page()) {
      page.register(routes, all.methods(), Errors::status);
    }
    sockets.register(routes, List.of(Sockets.PATH_OF_MODEL, "*"));
    routes.after(log::end);
    routes.after(this::holdRefused);
    new Failures(all, platform.predictRoute()).map(routes);
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
    return Stream.concat(
            Stream.concat(Stream.of("/ping"), OpenInference.HEALTH.stream()),
            config.platform().healthRoute().stream())
        .collect(Collectors.toUnmodifiableSet());
  }

  /// Who answers the messages of a socket.
  private Supplier<ServedModel.Visit> model(Context handshake) {
    return switch (served) {
      case Served.One(var model) -> model::enter;
      case Served.Watched watched -> () -> watched.enter(inTime());
      case Served.Many(var models) -> {
        // The path of any other route is refused before, and this one has a name.
        var name = Models.name(handshake);
        yield () -> models.enter(name, inTime());
      }
    };
  }

  private Deadline inTime() {
    return Deadline.in(config.batching().timeout(), System::nanoTime);
  }

  private int liveWorkers(Served.Watched watched) {
    try (var visit = watched.enter(inTime())) {
      return visit.liveWorkers();
    }
  }

  private void register(
      RoutesConfig routes, Function<Deadline, ServedModel.Visit> visits, IntSupplier workers) {
    var vertex = config.platform().predictRoute();
    var invocations = invocations((_, deadline) -> visits.apply(deadline));
    INVOCATIONS.stream()
        .filter(path -> vertex.filter(path::equals).isEmpty())
        .forEach(path -> routes.post(path, invocations));
    vertex.ifPresent(
        path ->
            routes.post(path, new Vertex((_, deadline) -> visits.apply(deadline), invocations)));
    routes.get(Sockets.PATH, Sockets::requireHandshake);
    routes.get("/execution-parameters", new ExecutionParameters(config.transform(), workers));
    new OpenAi(config.protocol().modelName(), () -> visits.apply(inTime())).register(routes);
  }

  private void register(RoutesConfig routes, ManyModels many) {
    var models =
        new Models(
            many, config.batching().timeout(), ProcessMemory.ofThisProcess(), System::nanoTime);
    routes.post("/models", models::load);
    routes.get("/models", models::list);
    routes.get("/models/{name}", models::describe);
    routes.delete("/models/{name}", models::unload);
    routes.get(Sockets.PATH_OF_MODEL, Sockets::requireHandshake);
    routes.post(
        "/models/{name}/invoke",
        invocations((ctx, deadline) -> many.enter(Models.name(ctx), deadline)));
  }

  private Invocations invocations(BiFunction<Context, Deadline, ServedModel.Visit> visits) {
    return new Invocations(
        visits,
        config.http(),
        config.transform(),
        config.batching().timeout(),
        config.streams(),
        ProcessMemory.ofThisProcess(),
        System::nanoTime);
  }

  /// What becomes of an error of the JVM outside of the hooks.
  void fatal(HttpServletResponse response, Error error) {
    metrics.caught(error);
    Failures.fatal(response, error);
  }

  /// Says whether the server can answer, at once and whatever the workers do. A busy server is a
  /// healthy one.
  private void ping(Context ctx) {
    health
        .problem()
        .ifPresentOrElse(
            problem ->
                ctx.status(503)
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

  /// Those who ask while others are answered share the next answer: it costs as much as a
  /// prediction, and may wait for long until it is taken.
  private void scrape(Context ctx) {
    scrapes.pause(SCRAPE_NANOS);
    long asked = System.nanoTime();
    scraping.lock();
    try {
      if (scrape.length == 0 || scrapeBegan - asked < 0) {
        scrapeBegan = System.nanoTime();
        scrape = metrics.scrape().getBytes(StandardCharsets.UTF_8);
      }
      ctx.contentType(ServingMetrics.CONTENT_TYPE).result(scrape);
    } finally {
      scraping.unlock();
    }
  }
}
