package dev.berth.http;

import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.memory.ProcessMemory;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.Health;
import dev.berth.serving.ServedModel;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import jakarta.servlet.http.HttpServletResponse;
import java.util.Map;

/// Every route of the server.
final class Routes {

  private final ServerConfig config;
  private final Health health;
  private final ServedModel model;
  private final ServingMetrics metrics;

  /// @param model the one that `/invocations` asks
  Routes(ServerConfig config, Health health, ServedModel model, ServingMetrics metrics) {
    this.config = config;
    this.health = health;
    this.model = model;
    this.metrics = metrics;
  }

  void register(RoutesConfig routes) {
    var metricsPath = config.http().metricsPath();
    var methods = Map.of(
        "/ping", "GET, POST",
        "/invocations", "POST",
        "/inferences", "POST",
        "/execution-parameters", "GET",
        metricsPath, "GET");
    var log = new RequestLog(metrics, methods.keySet());
    var invocations = new Invocations(
        _ -> model, config.http(), config.transform(), config.batching().timeout(), ProcessMemory.ofThisProcess(),
        System::nanoTime);

    routes.before(log::begin);
    routes.before(this::closeWhenStopping);
    routes.get("/ping", this::ping);
    routes.post("/ping", this::ping);
    routes.post("/invocations", invocations);
    routes.post("/inferences", invocations);
    routes.get("/execution-parameters", new ExecutionParameters(config.transform(), model));
    routes.get(metricsPath, this::scrape);
    routes.after(log::end);
    routes.after(new RefusalPace(Runtime.getRuntime().availableProcessors(), System::nanoTime)::hold);
    new Failures(methods).map(routes);
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
