package dev.berth.telemetry.otlp;

import dev.berth.telemetry.RequestTrace;
import dev.berth.telemetry.Step;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/// The span of a request, with one below it for each of its steps.
///
/// A batch may have records of several requests, and a span has one parent. So the span of a batch
/// stands below the first request that is sampled, has links to all, and the other requests have
/// links to it.
final class RequestSpan implements RequestTrace {

    /// A step as a span.
    private record SpanStep(Tracer tracer, Span span, Context context) implements Step {

        private static SpanStep begin(SpanBuilder builder, Context parent, Tracer tracer) {
            var span = builder.setParent(parent).startSpan();
            return new SpanStep(tracer, span, parent.with(span));
        }

        @Override
        public SpanStep step(String name) {
            return begin(tracer.spanBuilder(name), context, tracer);
        }

        @Override
        public void failed(Throwable why) {
            span.setStatus(StatusCode.ERROR)
                    .setAttribute("error.type", why.getClass().getName());
        }

        @Override
        public void close() {
            span.end();
        }
    }

    private final String method;
    private final SpanStep whole;
    private final Span span;

    /// While its records wait.
    private final AtomicReference<Span> queue = new AtomicReference<>();

    RequestSpan(String method, SpanBuilder builder, Context parent, Tracer tracer) {
        this.method = method;
        this.whole = SpanStep.begin(builder, parent, tracer);
        this.span = whole.span();
    }

    @Override
    public Optional<String> traceParent() {
        var own = span.getSpanContext();
        return Optional.of("00-%s-%s-%s"
                .formatted(
                        own.getTraceId(), own.getSpanId(), own.getTraceFlags().asHex()));
    }

    @Override
    public void id(String requestId) {
        span.setAttribute("berth.request_id", requestId);
    }

    @Override
    public void model(String name) {
        span.setAttribute("berth.model", name);
    }

    @Override
    public void records(int count) {
        span.setAttribute("berth.records", count);
    }

    @Override
    public Step step(String name) {
        return whole.step(name);
    }

    @Override
    public void queued() {
        queue.set(whole.step("queue").span());
    }

    @Override
    public Step batch(String name, List<RequestTrace> requests, BatchSize size, int worker) {
        var spans = requests.stream().map(RequestSpan.class::cast).toList();
        var parent = spans.stream()
                .filter(request -> request.span.getSpanContext().isSampled())
                .findFirst()
                .orElse(this);
        var builder = whole.tracer()
                .spanBuilder(name)
                .setAttribute("berth.batch.requests", requests.size())
                .setAttribute("berth.batch.records", size.records())
                .setAttribute("berth.batch.tokens", size.tokens())
                .setAttribute("berth.worker", worker);
        spans.forEach(request -> builder.addLink(request.span.getSpanContext()));
        var begun = SpanStep.begin(builder, parent.whole.context(), whole.tracer());
        for (var request : spans) {
            request.leaveQueue().ifPresent(Span::end);
            if (request != parent) {
                request.span.addLink(begun.span().getSpanContext());
            }
        }
        return begun;
    }

    private Optional<Span> leaveQueue() {
        return Optional.ofNullable(queue.getAndSet(null));
    }

    @Override
    public void end(String route, int status, Optional<String> error) {
        leaveQueue().ifPresent(waiting -> {
            waiting.setStatus(StatusCode.ERROR);
            error.ifPresent(type -> waiting.setAttribute("error.type", type));
            waiting.end();
        });
        span.updateName(method + " " + route);
        span.setAttribute("http.route", route);
        span.setAttribute("http.response.status_code", status);
        error.ifPresent(type -> span.setAttribute("error.type", type));
        if (status >= 500) {
            span.setStatus(StatusCode.ERROR);
        }
        span.end();
    }
}
