package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.error.Unsaid;
import dev.berth.metrics.ModelMetrics;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.Invocation;
import dev.berth.serving.hooks.LoadException;
import dev.berth.telemetry.Exporter.Export;
import dev.berth.telemetry.RequestTrace;
import io.javalin.http.Context;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
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
///
/// @param paths what there is; everything else counts as one route, so that callers can't make up
///   new ones
/// @param untraced paths that a platform asks all the time
public record RequestLog(ServingMetrics metrics, Paths paths, Export tracing, Set<String> untraced) {

    /// SageMaker's own spelling.
    public static final String REQUEST_ID_HEADER = "x-amzn-RequestId";

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

    /// The attribute of a context that has its [Entry].
    private static final String ENTRY = "berth.entry";

    private static final Logger log = LoggerFactory.getLogger(RequestLog.class);

    /// What is said of a request, or of a message of a socket, until it has its answer. Used by its
    /// thread.
    public static final class Entry {
        private final long started = System.nanoTime();
        private final String method;
        private final String path;

        /// Whose trace it is in where the server traces nothing.
        public final Optional<String> parent;

        /// The trace that it is in.
        public final RequestTrace trace;

        // Null for none.
        private ModelMetrics model;
        private Invocation served;
        private ServingException failure;

        private Entry(String id, String method, String path, RequestTrace trace, Optional<String> parent) {
            this.method = method;
            this.path = path;
            this.trace = trace;
            this.parent = parent;
            trace.id(id);
            MDC.put(REQUEST_ID, id);
            trace.traceParent().ifPresent(own -> MDC.put(SPAN_ID, own.split("-")[2]));
            traceParent().ifPresent(known -> MDC.put(TRACE_ID, known.split("-")[1]));
        }

        /// Where what the hooks call belongs: below the request's own span where the server traces, else
        /// below its caller's.
        public Optional<String> traceParent() {
            return trace.traceParent().or(() -> parent);
        }

        /// Says which model has taken it in. Its name is on the log lines from now on.
        public void entered(ModelMetrics model) {
            this.model = model;
            trace.model(model.model());
            model.requestEntered();
            MDC.put(ModelMetrics.LABEL, model.model());
        }

        /// Says that a model has answered.
        public void served(Invocation invocation) {
            served = invocation;
        }

        /// Whether it was refused because there was no room for it.
        boolean isRefused() {
            return failure != null && failure.type().isRefusal();
        }

        /// Says why it failed.
        public void failed(ServingException why) {
            failure = why;
        }
    }

    /// Runs before a route. The request's id is the caller's `x-amzn-RequestId`, else its inference
    /// id, else a new one.
    public void begin(Context ctx) {
        MDC.clear();
        var inferenceId = id(ctx.header(INFERENCE_ID_HEADER));
        var requestId = id(ctx.header(REQUEST_ID_HEADER)).or(() -> inferenceId).orElseGet(RequestLog::newId);
        ctx.header(REQUEST_ID_HEADER, requestId);
        inferenceId.filter(id -> !id.equals(requestId)).ifPresent(id -> MDC.put(INFERENCE_ID, id));
        ctx.attribute(INFERENCE_ID, inferenceId.orElse(requestId));
        Optional.ofNullable(ctx.header(TARGET_MODEL_HEADER))
                .ifPresent(target -> MDC.put(TARGET_MODEL, CallerText.logged(target)));
        Headers.w3cTraceParent(ctx).ifPresent(own -> ctx.header(Headers.TRACE_PARENT, own));
        var parent = Headers.traceParent(ctx);
        var method = ctx.method().name();
        var trace = untraced.contains(ctx.path())
                ? RequestTrace.NONE
                : tracing.begin(
                        method,
                        ctx.path(),
                        ctx,
                        (asked, name) -> isParent(name) ? parent.orElse(null) : asked.header(name));
        set(ctx, new Entry(requestId, method, ctx.path(), trace, parent));
    }

    /// Runs before a message of a socket, or of a stream of gRPC, is answered.
    ///
    /// @param parent the trace that it is in
    public Entry beginMessage(String id, String path, Optional<String> parent) {
        MDC.clear();
        var trace = tracing.begin("message", path, parent, (known, name) -> isParent(name) ? known.orElse(null) : null);
        return new Entry(id, "message", path, trace, parent);
    }

    private static boolean isParent(String header) {
        return header.equalsIgnoreCase(Headers.TRACE_PARENT);
    }

    /// Runs after a message was answered.
    public void endMessage(Entry entry, String route) {
        end(entry, route, 200);
    }

    /// Runs after the route and the error mapper.
    public void end(Context ctx) {
        var route = Optional.ofNullable(ctx.endpoints().matchedHttpEndpoint())
                .map(endpoint -> endpoint.path)
                // That of sockets at any path.
                .filter(path -> !path.equals("*"))
                .or(() -> paths.pattern(ctx.path()));
        end(of(ctx), route.orElse("other"), ctx.statusCode());
    }

    /// @param answered the status of the answer. What fails in a call of gRPC, or behind the first
    ///   part of a stream, comes after a 200
    private void end(Entry entry, String route, int answered) {
        var total = Duration.ofNanos(System.nanoTime() - entry.started);
        var failure = Optional.ofNullable(entry.failure);
        int status = answered < 400 ? failure.map(e -> e.type().status()).orElse(answered) : answered;
        metrics.requestCompleted(route, status, total);
        if (entry.model != null) {
            entry.model.requestCompleted(status, total);
        }
        if (entry.served != null) {
            entry.trace.records(entry.served.records());
        }
        entry.trace.end(route, status, failure.map(e -> e.type().code()));
        write(entry, route, status, total);
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
                    .log("malformed request {}: {}", status, CallerText.logged(CallerText.withoutExcerpts(message)));
        }
        return id;
    }

    /// `X-Amzn-SageMaker-Inference-Id`, else the request's id.
    public static String inferenceId(Context ctx) {
        return ctx.attribute(INFERENCE_ID);
    }

    public static Entry of(Context ctx) {
        return ctx.attribute(ENTRY);
    }

    /// What log lines of the request have in common, for other threads.
    public static Map<String, String> context() {
        return Objects.requireNonNullElse(MDC.getCopyOfContextMap(), Map.of());
    }

    /// What is said of a request from now on, while one of its messages is answered or after that.
    public static void set(Context ctx, Entry entry) {
        ctx.attribute(ENTRY, entry);
    }

    private static void write(Entry entry, String route, int status, Duration total) {
        var failure = entry.failure;
        var served = entry.served;
        var level = level(failure, served);
        if (!log.isEnabledForLevel(level)) {
            return;
        }
        var line = log.atLevel(level)
                .addKeyValue("route", route)
                .addKeyValue("method", entry.method)
                .addKeyValue("status", status)
                .addKeyValue("total_ms", millis(total));
        var result = "";
        if (failure != null) {
            var why = why(failure);
            result = why.isEmpty()
                    ? ": " + failure.type().code()
                    : ": %s: %s".formatted(failure.type().code(), why);
            line = line.addKeyValue("error", failure.type().code())
                    // A caller's own mistake has no stack worth reading, nor has a full server.
                    .setCause(
                            isOurs(failure) && !isOfLoad(failure)
                                    ? Unsaid.of(Objects.requireNonNullElse(failure.getCause(), failure))
                                    : null);
        } else if (served != null) {
            result = ": %d records, decode %s ms, queue %s ms, predict %s ms, encode %s ms"
                    .formatted(
                            served.records(),
                            millis(served.decoded()),
                            millis(served.queued()),
                            millis(served.predicted()),
                            millis(served.encoded()));
            line = line.addKeyValue("records", served.records())
                    .addKeyValue("decode_ms", millis(served.decoded()))
                    .addKeyValue("queue_ms", millis(served.queued()))
                    .addKeyValue("predict_ms", millis(served.predicted()))
                    .addKeyValue("encode_ms", millis(served.encoded()));
        }
        var target =
                Optional.ofNullable(MDC.get(TARGET_MODEL)).map(" for "::concat).orElse("");
        line.log(
                "{} {}{} {} in {} ms{}",
                entry.method,
                CallerText.logged(entry.path),
                target,
                status,
                millis(total),
                result);
    }

    /// A platform asks `/ping` and `/metrics` all the time, so their answers have no line by default.
    private static Level level(ServingException failure, Invocation served) {
        if (failure == null) {
            return served == null ? Level.DEBUG : Level.INFO;
        }
        return failure.type() == ErrorType.CALLER_GONE ? Level.DEBUG : isOurs(failure) ? Level.ERROR : Level.INFO;
    }

    private static String why(ServingException failure) {
        if (isOfLoad(failure)) {
            return "the model could not be loaded, as logged above";
        }
        return switch (failure.type()) {
            // What the server says of itself quotes no payload.
            case INSUFFICIENT_MEMORY, PAYLOAD_TOO_LARGE -> failure.getMessage();
            case ErrorType type when type.isRefusal() -> failure.getMessage();
            default -> CallerText.withoutExcerpts(failure.getMessage());
        };
    }

    /// Whether the model could not be loaded. The store has logged why.
    private static boolean isOfLoad(ServingException failure) {
        return failure.type() == ErrorType.INTERNAL
                && (failure.getCause() instanceof ServingException || failure.getCause() instanceof LoadException);
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
