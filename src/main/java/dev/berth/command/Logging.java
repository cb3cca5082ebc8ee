package dev.berth.command;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.filter.Filter;
import ch.qos.logback.core.spi.FilterReply;
import dev.berth.config.LogConfig;
import dev.berth.config.LogFormat;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Applies the chosen level, format and stream on top of [LogDefaults], which hold the plain form and the levels of
/// libraries.
final class Logging {

  private Logging() {}

  /// Sets the level, and writes to `descriptor` whatever becomes of `System.out`: a hook can replace or close that.
  ///
  /// Appenders of a `logback.configurationFile` are left as they are.
  static void configure(LogConfig config, FileDescriptor descriptor) {
    var context = context();
    var level = Level.toLevel(config.level().name());
    var root = context.getLogger(Logger.ROOT_LOGGER_NAME);
    root.setLevel(level);
    context.getLoggerList().stream()
        .filter(logger -> logger.getLevel() != null && level.isGreaterOrEqual(logger.getLevel()))
        .forEach(logger -> logger.setLevel(level));
    if (root.detachAppender(LogDefaults.APPENDER)) {
      var appender = new OutputStreamAppender<ILoggingEvent>();
      appender.setContext(context);
      appender.setName(LogDefaults.APPENDER);
      appender.setEncoder(config.format() == LogFormat.JSON ? new JsonEvents() : LogDefaults.plain(context));
      // Unbuffered, so that each event is one write.
      appender.setOutputStream(new FileOutputStream(descriptor));
      appender.addFilter(new SaidOnce());
      appender.start();
      root.addAppender(appender);
    }
  }

  /// Logs what is printed from now on, by the loggers `stdout` and `stderr`.
  static void takeOverPrints() {
    var err = System.err;
    System.setOut(PrintedLines.to(LoggerFactory.getLogger("stdout"), org.slf4j.event.Level.INFO, err));
    System.setErr(PrintedLines.to(LoggerFactory.getLogger("stderr"), org.slf4j.event.Level.WARN, err));
  }

  /// Writes out what is still held, and ends logging.
  static void flush() {
    context().stop();
  }

  private static LoggerContext context() {
    return (LoggerContext) LoggerFactory.getILoggerFactory();
  }

  /// Leaves out why Javalin can't start: it throws that too, and [ServeCommand] says it in one line.
  private static final class SaidOnce extends Filter<ILoggingEvent> {
    @Override
    public FilterReply decide(ILoggingEvent event) {
      return "Failed to start Javalin".equals(event.getMessage()) ? FilterReply.DENY : FilterReply.NEUTRAL;
    }
  }
}
