package dev.berth.http;

import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.memory.ProcessMemory;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.Deadline;
import dev.berth.serving.Health;
import dev.berth.serving.ManyModels;
import dev.berth.serving.Served;
import dev.berth.serving.ServedModel;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.IntSupplier;

/// Every route of the server.
final class Routes {

  private static final String START_MANY =
      "this server has one model, at /invocations; SAGEMAKER_MULTI_MODEL=true starts one that loads and unloads models, "
          + "--models one that serves all of a directory";
  private static final String MANY =
      "this server has many models; POST /models/{name}/invoke asks one, GET /models lists them";

  private static final Paths ONE_MODEL = new Paths(
      Map.of("/invocations", "POST", "/inferences", "POST", "/execution-parameters", "GET"),
      Map.of("/models", START_MANY, "/models/{name}", START_MANY, "/models/{name}/invoke", START_MANY));
  private static final Paths MANY_MODELS = new Paths(
      Map.of("/models", "GET, POST", "/models/{name}", "DELETE, GET", "/models/{name}/invoke", "POST"),
      Map.of("/invocations", MANY, "/inferences", MANY, "/execution-parameters", MANY));

  private final ServerConfig config;
  private final Health health;
  private final Served served;
  private final ServingMetrics metrics;

  Routes(ServerConfig config, Health health, Served served, ServingMetrics metrics) {
    this.config = config;
    this.health = health;
    this.served = served;
    this.metrics = metrics;
  }

  void register(RoutesConfig routes) {
    var metricsPath = config.http().metricsPath();
    var paths = switch (served) {
      case Served.One _, Served.Watched _ -> ONE_MODEL;
      case Served.Many _ -> MANY_MODELS;
    };
    var all = paths.and(Map.of("/ping", "GET, POST", metricsPath, "GET"));
    var log = new RequestLog(metrics, all);

    routes.before(log::begin);
    routes.before(this::closeWhenStopping);
    routes.get("/ping", this::ping);
    routes.post("/ping", this::ping);
    switch (served) {
      case Served.One(var model) -> register(routes, _ -> model.enter(), model::liveWorkers);
      case Served.Watched watched -> register(routes, watched::enter, () -> liveWorkers(watched));
      case Served.Many(var models) -> register(routes, models);
    }
    routes.get(metricsPath, this::scrape);
    routes.after(log::end);
    routes.after(new RefusalPace(Runtime.getRuntime().availableProcessors(), System::nanoTime)::hold);
    new Failures(all).map(routes);
  }

  private int liveWorkers(Served.Watched watched) {
    try (var visit = watched.enter(Deadline.in(config.batching().timeout(), System::nanoTime))) {
      return visit.liveWorkers();
    }
  }

  private void register(RoutesConfig routes, Function<Deadline, ServedModel.Visit> visits, IntSupplier workers) {
    var invocations = invocations((_, deadline) -> visits.apply(deadline));
    routes.post("/invocations", invocations);
    routes.post("/inferences", invocations);
    routes.get("/execution-parameters", new ExecutionParameters(config.transform(), workers));
  }

  private void register(RoutesConfig routes, ManyModels many) {
    var models = new Models(many, config.batching().timeout(), ProcessMemory.ofThisProcess(), System::nanoTime);
    routes.post("/models", models::load);
    routes.get("/models", models::list);
    routes.get("/models/{name}", models::describe);
    routes.delete("/models/{name}", models::unload);
    routes.post("/models/{name}/invoke", invocations((ctx, deadline) -> many.enter(Models.name(ctx), deadline)));
  }

  private Invocations invocations(BiFunction<Context, Deadline, ServedModel.Visit> visits) {
    return new Invocations(
        visits, config.http(), config.transform(), config.batching().timeout(), config.streams(),
        ProcessMemory.ofThisProcess(), System::nanoTime);
  }

  /// What becomes of an error of the JVM outside of the hooks.
  void fatal(HttpServletResponse response, Error error) {
    metrics.caught(error);
    Failures.fatal(response, error);
  }

  /// Says whether the server can answer, at once and whatever the workers do. A busy server is a healthy one.
  private void ping(Context ctx) {
    health.problem().ifPresentOrElse(
        problem -> ctx.status(503).contentType(Errors.CONTENT_TYPE).result(Errors.body(ErrorType.NOT_READY, problem)),
        () -> ctx.status(200));
  }

  /// A server that stops wants its clients to go elsewhere, and not to send their next request here.
  private void closeWhenStopping(Context ctx) {
    if (health.isStopping()) {
      ctx.header("Connection", "close");
    }
  }

  private void scrape(Context ctx) {
    ctx.contentType(ServingMetrics.CONTENT_TYPE).result(metrics.scrape());
  }
}
