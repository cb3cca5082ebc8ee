package dev.berth.telemetry.otlp;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxy;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import io.opentelemetry.api.logs.LoggerProvider;
import io.opentelemetry.api.logs.Severity;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Context;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Hands every event of the log to the SDK, in the trace of its request. Runs on the thread that
/// logs, and never waits.
final class LogExport extends UnsynchronizedAppenderBase<ILoggingEvent> {

    private final LoggerProvider logs;

    private LogExport(LoggerProvider logs) {
        this.logs = logs;
    }

    static LogExport attached(LoggerProvider logs) {
        var appender = new LogExport(logs);
        var context = (LoggerContext) LoggerFactory.getILoggerFactory();
        appender.setContext(context);
        appender.start();
        context.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(appender);
        return appender;
    }

    void detach() {
        ((LoggerContext) getContext()).getLogger(Logger.ROOT_LOGGER_NAME).detachAppender(this);
        stop();
    }

    @Override
    protected void append(ILoggingEvent event) {
        var line = logs.get(event.getLoggerName())
                .logRecordBuilder()
                .setTimestamp(event.getInstant())
                .setContext(context(event))
                // Both have the same five names.
                .setSeverity(Severity.valueOf(event.getLevel().toString()))
                .setSeverityText(event.getLevel().toString())
                .setBody(event.getFormattedMessage())
                .setAttribute("thread.name", event.getThreadName());
        event.getMDCPropertyMap().forEach(line::setAttribute);
        if (event.getKeyValuePairs() != null) {
            event.getKeyValuePairs().forEach(pair -> line.setAttribute(pair.key, String.valueOf(pair.value)));
        }
        if (event.getThrowableProxy() instanceof ThrowableProxy thrown) {
            line.setException(thrown.getThrowable());
        }
        line.emit();
    }

    /// The lines of a batch have the ids of all its requests, which are none together, and so are in none of
    /// their traces.
    private static Context context(ILoggingEvent event) {
        var trace = event.getMDCPropertyMap().getOrDefault("trace_id", "");
        var span = event.getMDCPropertyMap().getOrDefault("span_id", "");
        var place = SpanContext.create(trace, span, TraceFlags.getSampled(), TraceState.getDefault());
        return Context.root().with(Span.wrap(place));
    }
}
