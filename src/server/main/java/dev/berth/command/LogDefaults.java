package dev.berth.command;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ConfiguratorRank;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.spi.ContextAwareBase;
import java.util.List;
import org.slf4j.Logger;

/// How the log looks before [Logging] applies what was chosen. In Java and not in a `logback.xml`,
/// because reading XML takes longer than all else that happens before the settings are read.
/// Logback finds it as a service.
///
/// The property `logback.configurationFile` still names a file to use in its place.
@ConfiguratorRank(ConfiguratorRank.CUSTOM_NORMAL_PRIORITY)
public final class LogDefaults extends ContextAwareBase implements Configurator {

    /// Its appender, which [Logging] replaces.
    static final String APPENDER = "console";

    /// Libraries that speak only when something is wrong. Below that, the HTTP client of the last two
    /// writes out what it sends, signatures and all.
    private static final List<String> QUIET =
            List.of("org.eclipse.jetty", "io.javalin", "ai.djl", "software.amazon.awssdk", "org.apache.hc");

    @Override
    public ExecutionStatus configure(LoggerContext context) {
        if (System.getProperty("logback.configurationFile") != null) {
            return ExecutionStatus.INVOKE_NEXT_IF_ANY;
        }
        QUIET.forEach(name -> context.getLogger(name).setLevel(Level.WARN));
        // It warns four times of a driver that does not match; Berth says once which device it uses,
        // and why.
        context.getLogger("ai.djl.util.cuda").setLevel(Level.ERROR);
        var root = context.getLogger(Logger.ROOT_LOGGER_NAME);
        root.setLevel(Level.INFO);
        var appender = new ConsoleAppender<ILoggingEvent>();
        appender.setContext(context);
        appender.setName(APPENDER);
        appender.setEncoder(new PlainEvents());
        appender.start();
        root.addAppender(appender);
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }
}
