package dev.berth.command;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.LoggingEvent;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.encoder.Encoder;
import ch.qos.logback.core.filter.Filter;
import ch.qos.logback.core.spi.FilterReply;
import dev.berth.config.LogConfig;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Applies the chosen level, format and stream on top of [LogDefaults], which hold the plain form
/// and the levels of libraries.
public final class Logging {

    private Logging() {}

    /// Sets the level and the stream, which is none of `System`'s: a hook can replace or close those.
    ///
    /// Appenders of a `logback.configurationFile` are left as they are.
    public static void configure(LogConfig config, OutputStream stream) {
        configure(config, _ -> stream);
    }

    /// The same, and whoever logs never waits for those who read the stream.
    static void configureWithoutWaiting(LogConfig config, OutputStream stream) {
        configure(config, encoder -> LogWriter.to(stream, lost -> encoder.encode(lostEvents(lost))));
    }

    private static void configure(LogConfig config, Function<Encoder<ILoggingEvent>, OutputStream> stream) {
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
            var encoder = config.format() == LogConfig.Format.JSON ? new JsonEvents() : new PlainEvents();
            appender.setEncoder(encoder);
            // Unbuffered, so that each event is one write.
            appender.setOutputStream(stream.apply(encoder));
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

    /// How many events of the log were lost, because it was not read in time.
    static long dropped() {
        return context().getLogger(Logger.ROOT_LOGGER_NAME).getAppender(LogDefaults.APPENDER)
                                instanceof OutputStreamAppender<?> appender
                        && appender.getOutputStream() instanceof LogWriter writer
                ? writer.dropped()
                : 0;
    }

    /// Prints a line among those of the log, as it is: no event is before it or behind it on its
    /// line.
    static void print(String line) {
        var bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
        try {
            if (context().getLogger(Logger.ROOT_LOGGER_NAME).getAppender(LogDefaults.APPENDER)
                    instanceof OutputStreamAppender<?> appender) {
                appender.getOutputStream().write(bytes);
            } else {
                // Its owner has another log, on a stream of its own.
                new FileOutputStream(FileDescriptor.out).write(bytes);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Writes out what is still held, for a second at most, and ends logging.
    static void flush() {
        context().stop();
    }

    private static ILoggingEvent lostEvents(long lost) {
        var logger = context().getLogger(LogWriter.class);
        return new LoggingEvent(
                Logging.class.getName(),
                logger,
                Level.WARN,
                "{} events of the log were lost, because nobody read it in time",
                null,
                new Object[] {lost});
    }

    private static LoggerContext context() {
        return (LoggerContext) LoggerFactory.getILoggerFactory();
    }

    /// Leaves out why Javalin can't start or stop: it throws that too, and [ServeCommand] and
    /// [dev.berth.http.HttpServer] say it in one line.
    static final class SaidOnce extends Filter<ILoggingEvent> {
        private static final Set<String> SAID = Set.of("Failed to start Javalin", "Javalin failed to stop gracefully");

        @Override
        public FilterReply decide(ILoggingEvent event) {
            return SAID.contains(event.getMessage()) ? FilterReply.DENY : FilterReply.NEUTRAL;
        }
    }
}
