package dev.berth.testing;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/// What the server logs while this is open, from every logger.
public final class CapturedLog implements AutoCloseable {

  private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
  private final List<ILoggingEvent> events = new CopyOnWriteArrayList<>();
  private final AppenderBase<ILoggingEvent> appender =
      new AppenderBase<>() {
        @Override
        protected void append(ILoggingEvent event) {
          event.prepareForDeferredProcessing();
          events.add(event);
        }
      };

  public CapturedLog() {
    appender.setContext(root.getLoggerContext());
    appender.start();
    root.addAppender(appender);
  }

  public List<ILoggingEvent> events() {
    return events;
  }

  /// The messages, each with its stack trace where it has one.
  public String text() {
    var text = new StringBuilder();
    for (var event : events) {
      text.append(event.getLevel()).append(' ').append(event.getFormattedMessage()).append('\n');
      for (var cause = event.getThrowableProxy(); cause != null; cause = cause.getCause()) {
        text.append(cause.getClassName()).append(": ").append(cause.getMessage()).append('\n');
      }
    }
    return text.toString();
  }

  @Override
  public void close() {
    root.detachAppender(appender);
  }
}
