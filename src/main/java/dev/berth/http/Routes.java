package dev.berth.http;

import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.ServedModel;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import java.util.Map;

/// Every route of the server.
final class Routes {

  private final ServerConfig config;
  private final ServedModel model;
  private final ServingMetrics metrics;

  Routes(ServerConfig config, ServedModel model, ServingMetrics metrics) {
    this.config = config;
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
    var invocations = new Invocations(model, config.http(), config.transform(), config.batching().timeout());

    routes.before(log::begin);
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

  /// Says whether the model can serve, at once and whatever the workers do. A busy server is a healthy one.
  private void ping(Context ctx) {
    if (model.ready()) {
      ctx.status(200);
    } else {
      ctx.status(503)
          .contentType(Errors.CONTENT_TYPE)
          .result(Errors.body(ErrorType.NOT_READY, "the model is loading, stopping or failed"));
    }
  }

  private void scrape(Context ctx) {
    ctx.contentType(ServingMetrics.CONTENT_TYPE).result(metrics.scrape());
  }
}
