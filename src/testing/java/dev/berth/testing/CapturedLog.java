package dev.berth.testing;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/// What is logged while this is open: by every logger, or by one. Threads of earlier tests may
/// still log, so a test that lists all events of a part captures that part's logger.
public final class CapturedLog implements AutoCloseable {

    private final Logger logger;
    private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();
    private final AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
            event.prepareForDeferredProcessing();
            events.add(event);
        }
    };

    public CapturedLog() {
        this(org.slf4j.Logger.ROOT_LOGGER_NAME);
    }

    public CapturedLog(Class<?> logger) {
        this(logger.getName());
    }

    private CapturedLog(String name) {
        logger = (Logger) LoggerFactory.getLogger(name);
        appender.setContext(logger.getLoggerContext());
        appender.start();
        logger.addAppender(appender);
    }

    public List<ILoggingEvent> events() {
        return events;
    }

    /// The messages, each with its stack trace where it has one.
    public String text() {
        var text = new StringBuilder();
        for (var event : events) {
            text.append(event.getLevel())
                    .append(' ')
                    .append(event.getFormattedMessage())
                    .append('\n');
            for (var cause = event.getThrowableProxy(); cause != null; cause = cause.getCause()) {
                text.append(
                                cause.getOverridingMessage() == null
                                        ? cause.getClassName() + ": " + cause.getMessage()
                                        : cause.getOverridingMessage())
                        .append('\n');
            }
        }
        return text.toString();
    }

    @Override
    public void close() {
        logger.detachAppender(appender);
    }
}
