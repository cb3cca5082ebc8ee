package dev.berth.telemetry.otlp;

import dev.berth.telemetry.RequestTrace;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.util.function.BiFunction;

/// A span of kind SERVER for each request, below that of its caller.
final class Spans {

  private final Tracer tracer;
  private final TextMapPropagator propagator;

  Spans(Tracer tracer, TextMapPropagator propagator) {
    this.tracer = tracer;
    this.propagator = propagator;
  }

  <R> RequestTrace begin(
      String method, String path, R request, BiFunction<R, String, String> header) {
    var parent = propagator.extract(Context.root(), request, new Headers<>(header));
    var span =
        tracer
            .spanBuilder(method)
            .setParent(parent)
            .setSpanKind(SpanKind.SERVER)
            .setAttribute("http.request.method", method)
            .setAttribute("url.path", path)
            .startSpan();
    return new RequestSpan(tracer, method, span, parent.with(span));
  }

  private record Headers<R>(BiFunction<R, String, String> header) implements TextMapGetter<R> {
    @Override
    public String get(R request, String name) {
      return request == null ? null : header.apply(request, name);
    }
  }
}
