package dev.berth.http;

import dev.berth.metrics.ServingMetrics;
import io.javalin.http.Context;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.slf4j.MDC;

/// What every request leaves behind: its inference id on each of its log lines, and a count by route and status.
final class RequestLog {

  private static final String INFERENCE_ID = "inferenceId";
  private static final String STARTED = "berth.started";

  private final ServingMetrics metrics;
  private final Set<String> paths;

  /// @param paths what there is; everything else counts as one route, so that callers can't make up new ones
  RequestLog(ServingMetrics metrics, Set<String> paths) {
    this.metrics = metrics;
    this.paths = paths;
  }

  /// Runs before a route. Takes SageMaker's `X-Amzn-SageMaker-Inference-Id` where it keeps to its own rules: 1 to 64
  /// printable characters, the first not blank.
  void begin(Context ctx) {
    ctx.attribute(STARTED, System.nanoTime());
    var id = Optional.ofNullable(ctx.header("X-Amzn-SageMaker-Inference-Id"))
        .filter(value -> value.matches("[!-~][ -~]{0,63}"))
        .orElseGet(() -> UUID.randomUUID().toString());
    ctx.attribute(INFERENCE_ID, id);
    MDC.put(INFERENCE_ID, id);
  }

  /// Runs after the route and the error mapper.
  void end(Context ctx) {
    Long started = ctx.attribute(STARTED);
    var route = paths.contains(ctx.path()) ? ctx.path() : "other";
    metrics.requestCompleted(route, ctx.statusCode(), Duration.ofNanos(System.nanoTime() - started));
    MDC.remove(INFERENCE_ID);
  }

  static String inferenceId(Context ctx) {
    return ctx.attribute(INFERENCE_ID);
  }
}
