package dev.berth.command;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ConfiguratorRank;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Layout;
import ch.qos.logback.core.OutputStreamAppender;
import ch.qos.logback.core.encoder.LayoutWrappingEncoder;
import ch.qos.logback.core.filter.Filter;
import ch.qos.logback.core.joran.spi.ConsoleTarget;
import ch.qos.logback.core.spi.ContextAwareBase;
import ch.qos.logback.core.spi.FilterReply;
import dev.berth.config.MonitoringConfig;
import dev.berth.config.Platform;
import dev.berth.config.ServerConfig;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// How the log looks: plain lines at first, then as the settings say. In Java and not in a
/// `logback.xml`, because reading XML takes longer than all else that happens before the settings
/// are read. Logback finds it as a service.
///
/// The property `logback.configurationFile` still names a file to use in its place. Its appenders
/// are left as they are.
@ConfiguratorRank(ConfiguratorRank.CUSTOM_NORMAL_PRIORITY)
public final class Logging extends ContextAwareBase implements Configurator {

    private static final OutputStream STDOUT = new FileOutputStream(FileDescriptor.out);

    private static final String APPENDER = "console";

    /// Libraries that speak only when something is wrong. Below that, the HTTP client of the last two
    /// writes out what it sends, signatures and all.
    private static final List<String> QUIET =
            List.of("org.eclipse.jetty", "io.javalin", "ai.djl", "software.amazon.awssdk", "org.apache.hc");

    /// Called by Logback before the first event.
    @Override
    public ExecutionStatus configure(LoggerContext context) {
        if (System.getProperty("logback.configurationFile") != null) {
            return ExecutionStatus.INVOKE_NEXT_IF_ANY;
        }
        QUIET.forEach(name -> context.getLogger(name).setLevel(Level.WARN));
        // It warns four times of a driver that does not match; Berth says once which device it uses,
        // and why.
        context.getLogger("ai.djl.util.cuda").setLevel(Level.ERROR);
        context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(Level.INFO);
        append(context, new PlainEvents(), ConsoleTarget.SystemOut.getStream());
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    /// Sets the level and the stream, which is none of `System`'s: a hook can replace or close those.
    public static void configure(ServerConfig config, OutputStream stream) {
        var context = context();
        var level = Level.toLevel(config.get(MonitoringConfig.LOG_LEVEL).name());
        var root = context.getLogger(Logger.ROOT_LOGGER_NAME);
        root.setLevel(level);
        context.getLoggerList().stream()
                .filter(logger -> logger.getLevel() != null && level.isGreaterOrEqual(logger.getLevel()))
                .forEach(logger -> logger.setLevel(level));
        context.getLogger(LogWriter.class).setLevel(Level.WARN);
        if (root.detachAppender(APPENDER)) {
            var layout = isJson(config) ? new JsonEvents() : new PlainEvents();
            append(context, layout, stream);
        }
    }

    static boolean isJson(ServerConfig config) {
        return config.get(MonitoringConfig.LOG_FORMAT) == MonitoringConfig.Format.JSON;
    }

    /// The settings of the log alone, also where others are wrong.
    public static ServerConfig settings(Map<String, String> environment, Map<String, String> flags) {
        return new ServerConfig(
                List.of(MonitoringConfig.LOG_LEVEL, MonitoringConfig.LOG_FORMAT),
                new Platform(environment, Path.of("")),
                flags,
                _ -> {});
    }

    /// Has events written, each by one write.
    private static void append(LoggerContext context, Layout<ILoggingEvent> layout, OutputStream stream) {
        var encoder = new LayoutWrappingEncoder<ILoggingEvent>();
        encoder.setCharset(StandardCharsets.UTF_8);
        encoder.setLayout(layout);
        var appender = new OutputStreamAppender<ILoggingEvent>();
        appender.setContext(context);
        appender.setName(APPENDER);
        appender.setEncoder(encoder);
        appender.setOutputStream(stream);
        appender.addFilter(new SaidOnce());
        appender.start();
        context.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(appender);
    }

    /// Logs what is printed from now on, by the loggers `stdout` and `stderr`.
    static void takeOverPrints() {
        var err = System.err;
        System.setOut(PrintedLines.to(LoggerFactory.getLogger("stdout"), org.slf4j.event.Level.INFO, err));
        System.setErr(PrintedLines.to(LoggerFactory.getLogger("stderr"), org.slf4j.event.Level.WARN, err));
    }

    /// How many events of the log were lost, because it was not read in time.
    static long dropped() {
        return stream() instanceof LogWriter writer ? writer.dropped() : 0;
    }

    /// Prints a line among those of the log, as it is: no event is before it or behind it on its
    /// line.
    static void print(String line) {
        try {
            stream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// That of the log, or of the process where its owner has another log.
    private static OutputStream stream() {
        return context().getLogger(Logger.ROOT_LOGGER_NAME).getAppender(APPENDER)
                        instanceof OutputStreamAppender<?> appender
                ? appender.getOutputStream()
                : STDOUT;
    }

    /// Writes out what is still held, for a second at most, and ends logging.
    static void flush() {
        context().stop();
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
