package dev.berth.telemetry.otlp;

import dev.berth.telemetry.Step;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;

/// A step as a span.
record SpanStep(Tracer tracer, Span span, Context context) implements Step {

    static SpanStep begin(SpanBuilder builder, Context parent, Tracer tracer) {
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
