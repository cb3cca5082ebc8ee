package dev.berth.command;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.encoder.JsonEncoder;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import dev.berth.config.LogConfig;
import dev.berth.config.LogFormat;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Applies the chosen level and format on top of [LogDefaults], which hold the plain form and the levels of libraries.
final class Logging {

  private Logging() {}

  static void configure(LogConfig config) {
    var context = context();
    var level = Level.toLevel(config.level().name());
    var root = context.getLogger(Logger.ROOT_LOGGER_NAME);
    root.setLevel(level);
    context.getLoggerList().stream()
        .filter(logger -> logger.getLevel() != null && level.isGreaterOrEqual(logger.getLevel()))
        .forEach(logger -> logger.setLevel(level));
    if (config.format() == LogFormat.JSON) {
      root.detachAndStopAllAppenders();
      root.addAppender(json(context));
    }
  }

  /// Leaves stdout to what a command prints.
  static void toStderr() {
    context().getLogger(Logger.ROOT_LOGGER_NAME).iteratorForAppenders().forEachRemaining(appender -> {
      if (appender instanceof ConsoleAppender<ILoggingEvent> console) {
        console.stop();
        console.setTarget("System.err");
        console.start();
      }
    });
  }

  /// Writes out what is still held, and ends logging.
  static void flush() {
    context().stop();
  }

  private static ConsoleAppender<ILoggingEvent> json(LoggerContext context) {
    var encoder = new JsonEncoder();
    encoder.setContext(context);
    encoder.setWithSequenceNumber(false);
    encoder.setWithNanoseconds(false);
    encoder.setWithContext(false);
    encoder.setWithMarkers(false);
    encoder.setWithKVPList(false);
    encoder.setWithMessage(false);
    encoder.setWithArguments(false);
    encoder.setWithFormattedMessage(true);
    encoder.start();
    var appender = new ConsoleAppender<ILoggingEvent>();
    appender.setContext(context);
    appender.setName("json");
    appender.setEncoder(encoder);
    appender.start();
    return appender;
  }

  private static LoggerContext context() {
    return (LoggerContext) LoggerFactory.getILoggerFactory();
  }
}
