package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.metrics.ModelMetrics;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.Invocation;
import dev.berth.telemetry.RequestTrace;
import dev.berth.telemetry.Tracing;
import io.javalin.http.Context;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import org.slf4j.event.Level;

/// What every request leaves behind: a line in the log, a count by route and status, and its ids on
/// each of its log lines and on its response.
///
/// Runs on the request's thread. Routes and the error mapper say what happened; [#end] writes the
/// line.
final class RequestLog {

  /// SageMaker's own spelling.
  static final String REQUEST_ID_HEADER = "x-amzn-RequestId";

  private static final String INFERENCE_ID_HEADER = "X-Amzn-SageMaker-Inference-Id";

  /// The artifact as the caller of a multi-model endpoint named it. The name of the model is the
  /// platform's own.
  private static final String TARGET_MODEL_HEADER = "X-Amzn-SageMaker-Target-Model";

  /// SageMaker's own rule for the inference id.
  private static final Pattern ID = Pattern.compile("[!-~][ -~]{0,63}");

  // Names in the MDC, and so of the members of a JSON line.
  private static final String REQUEST_ID = "request_id";
  private static final String INFERENCE_ID = "inference_id";
  private static final String TRACE_ID = "trace_id";
  private static final String SPAN_ID = "span_id";
  private static final String TARGET_MODEL = "target_model";

  // Attributes of the context.
  private static final String STARTED = "berth.started";
  private static final String TRACE = "berth.trace";
  private static final String MODEL = "berth.model";
  private static final String SERVED = "berth.served";
  private static final String FAILED = "berth.failed";

  private static final Logger log = LoggerFactory.getLogger(RequestLog.class);

  private final ServingMetrics metrics;
  private final Paths paths;
  private final Tracing tracing;
  private final Set<String> untraced;

  /// @param paths what there is; everything else counts as one route, so that callers can't make up
  ///   new ones
  /// @param untraced paths that a platform asks all the time
  RequestLog(ServingMetrics metrics, Paths paths, Tracing tracing, Set<String> untraced) {
    this.metrics = metrics;
    this.paths = paths;
    this.tracing = tracing;
    this.untraced = untraced;
  }

  /// Runs before a route. The request's id is the caller's `x-amzn-RequestId`, else its inference
  /// id, else a new one.
  void begin(Context ctx) {
    ctx.attribute(STARTED, System.nanoTime());
    MDC.clear();
    var inferenceId = id(ctx.header(INFERENCE_ID_HEADER));
    var requestId =
        id(ctx.header(REQUEST_ID_HEADER)).or(() -> inferenceId).orElseGet(RequestLog::newId);
    MDC.put(REQUEST_ID, requestId);
    ctx.header(REQUEST_ID_HEADER, requestId);
    inferenceId.filter(id -> !id.equals(requestId)).ifPresent(id -> MDC.put(INFERENCE_ID, id));
    ctx.attribute(INFERENCE_ID, inferenceId.orElse(requestId));
    Optional.ofNullable(ctx.header(TARGET_MODEL_HEADER))
        .ifPresent(target -> MDC.put(TARGET_MODEL, Text.logged(target)));
    TraceParents.w3c(ctx).ifPresent(parent -> ctx.header(TraceParents.HEADER, parent));
    var trace =
        untraced.contains(ctx.path())
            ? RequestTrace.NONE
            : tracing.begin(ctx.method().name(), ctx.path(), ctx, TraceParents::header);
    trace.id(requestId);
    ctx.attribute(TRACE, trace);
    logTrace(trace, TraceParents.of(ctx));
  }

  private static void logTrace(RequestTrace trace, Optional<String> parent) {
    trace
        .place()
        .ifPresentOrElse(
            place -> {
              MDC.put(TRACE_ID, place.traceId());
              MDC.put(SPAN_ID, place.spanId());
            },
            () -> parent.ifPresent(known -> MDC.put(TRACE_ID, TraceParents.traceId(known))));
  }

  /// Says which model has taken the request in. Its name is on the log lines from now on.
  static void entered(Context ctx, ModelMetrics model) {
    ctx.attribute(MODEL, model);
    entered(trace(ctx), model);
  }

  /// The same for a message of a socket.
  static void entered(RequestTrace trace, ModelMetrics model) {
    trace.model(model.model());
    model.requestEntered();
    MDC.put(ModelMetrics.LABEL, model.model());
  }

  /// Runs before a message of a socket is answered.
  ///
  /// @param handshake in whose trace the message is
  RequestTrace beginMessage(String id, InvocationRequest handshake) {
    MDC.clear();
    MDC.put(REQUEST_ID, id);
    var trace =
        tracing.begin(
            "message",
            handshake.path(),
            handshake,
            (request, name) ->
                name.equalsIgnoreCase(TraceParents.HEADER)
                    ? request.traceParent().orElse(null)
                    : null);
    trace.id(id);
    logTrace(trace, handshake.traceParent());
    return trace;
  }

  /// Runs after a message of a socket was answered.
  ///
  /// @param model that took it in
  void endMessage(
      RequestTrace trace,
      String path,
      Optional<ModelMetrics> model,
      Optional<Invocation> served,
      Optional<ServingException> failure,
      Duration total) {
    end(
        trace,
        new Ended("message", path, Sockets.PATH, 200, failure, served, total),
        model.orElse(null));
  }

  /// Says that a model has answered.
  static void served(Context ctx, Invocation invocation) {
    ctx.attribute(SERVED, invocation);
  }

  /// Says why the request failed.
  static void failed(Context ctx, ServingException failure) {
    ctx.attribute(FAILED, failure);
  }

  /// Runs after the route and the error mapper.
  void end(Context ctx) {
    Long started = ctx.attribute(STARTED);
    end(
        trace(ctx),
        new Ended(
            ctx.method().name(),
            ctx.path(),
            paths.pattern(ctx.path()).orElse("other"),
            ctx.statusCode(),
            Optional.ofNullable(ctx.attribute(FAILED)),
            Optional.ofNullable(ctx.attribute(SERVED)),
            Duration.ofNanos(System.nanoTime() - started)),
        ctx.attribute(MODEL));
  }

  /// A request that has its answer.
  ///
  /// @param answered the status of the answer. What fails in a call of gRPC, or behind the first
  ///   part of a stream, comes after a 200
  private record Ended(
      String method,
      String path,
      String route,
      int answered,
      Optional<ServingException> failure,
      Optional<Invocation> served,
      Duration total) {

    int status() {
      return failure.map(e -> e.type().status()).orElse(answered);
    }
  }

  /// @param model null: none has taken it in
  private void end(RequestTrace trace, Ended ended, ModelMetrics model) {
    metrics.requestCompleted(ended.route, ended.status(), ended.total);
    if (model != null) {
      model.requestCompleted(ended.status(), ended.total);
    }
    ended.served.ifPresent(invocation -> trace.records(invocation.records()));
    trace.end(ended.route, ended.status(), ended.failure.map(e -> e.type().name()));
    write(ended);
    MDC.clear();
  }

  /// Logs a request that is not HTTP, and so reaches no route.
  ///
  /// @return the id of its response
  static String malformed(int status, String message) {
    var id = newId();
    try (var _ = MDC.putCloseable(REQUEST_ID, id)) {
      log.atInfo()
          .addKeyValue("status", status)
          .log("malformed request {}: {}", status, Text.logged(Text.withoutExcerpts(message)));
    }
    return id;
  }

  /// `X-Amzn-SageMaker-Inference-Id`, else the request's id.
  static String inferenceId(Context ctx) {
    return ctx.attribute(INFERENCE_ID);
  }

  /// The trace that the request is in.
  static RequestTrace trace(Context ctx) {
    return ctx.attribute(TRACE);
  }

  /// Where what the hooks call belongs: below the request's own span where the server traces, else
  /// below its caller's.
  static Optional<String> traceParent(Context ctx) {
    return trace(ctx).place().map(RequestTrace.Place::traceParent).or(() -> TraceParents.of(ctx));
  }

  private static void write(Ended ended) {
    var failure = ended.failure.orElse(null);
    var served = ended.served.orElse(null);
    var level = level(failure, served);
    if (!log.isEnabledForLevel(level)) {
      return;
    }
    var line =
        log.atLevel(level)
            .addKeyValue("route", ended.route)
            .addKeyValue("method", ended.method)
            .addKeyValue("status", ended.status())
            .addKeyValue("total_ms", millis(ended.total));
    var result = "";
    if (failure != null) {
      // The stack says it all. A caller's own mistake has no stack worth reading, nor has a full
      // server.
      var why =
          isOurs(failure)
              ? ""
              : failure.type() == ErrorType.INSUFFICIENT_MEMORY
                  ? failure.getMessage()
                  : Text.withoutExcerpts(failure.getMessage());
      result = why.isEmpty() ? ": " + failure.type() : ": %s: %s".formatted(failure.type(), why);
      line =
          line.addKeyValue("error", failure.type().name())
              .setCause(isOurs(failure) ? failure : null);
    } else if (served != null) {
      result =
          ": %d records, decode %s ms, queue %s ms, predict %s ms, encode %s ms"
              .formatted(
                  served.records(),
                  millis(served.decoded()),
                  millis(served.queued()),
                  millis(served.predicted()),
                  millis(served.encoded()));
      line =
          line.addKeyValue("records", served.records())
              .addKeyValue("decode_ms", millis(served.decoded()))
              .addKeyValue("queue_ms", millis(served.queued()))
              .addKeyValue("predict_ms", millis(served.predicted()))
              .addKeyValue("encode_ms", millis(served.encoded()));
    }
    var target = Optional.ofNullable(MDC.get(TARGET_MODEL)).map(" for "::concat).orElse("");
    line.log(
        "{} {}{} {} in {} ms{}",
        ended.method,
        Text.logged(ended.path),
        target,
        ended.status(),
        millis(ended.total),
        result);
  }

  /// A platform asks `/ping` and `/metrics` all the time, so their answers have no line by default.
  private static Level level(ServingException failure, Invocation served) {
    if (failure == null) {
      return served == null ? Level.DEBUG : Level.INFO;
    }
    return failure.type() == ErrorType.CALLER_GONE
        ? Level.DEBUG
        : isOurs(failure) ? Level.ERROR : Level.INFO;
  }

  private static boolean isOurs(ServingException failure) {
    return failure.type() == ErrorType.INTERNAL
        || (failure.type() == ErrorType.INSUFFICIENT_MEMORY && failure.getCause() != null);
  }

  private static Optional<String> id(String header) {
    return Optional.ofNullable(header).filter(ID.asMatchPredicate());
  }

  private static String newId() {
    return UUID.randomUUID().toString();
  }

  private static double millis(Duration duration) {
    return Math.round(duration.toNanos() / 1e4) / 100.0;
  }
}
