package dev.berth.telemetry.otlp;

import static org.slf4j.event.Level.DEBUG;
import static org.slf4j.event.Level.WARN;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.slf4j.LoggerFactory;

/// Says in the log of the server what the SDK says in that of the JDK: that something can't be
/// sent. It does so once, because a collector that is down may stay down, and every export fails
/// then.
final class ExportFailures extends Handler {

    private static final org.slf4j.Logger log = LoggerFactory.getLogger(ExportFailures.class);

    /// Held here: the JDK forgets loggers that nobody holds, and their handlers with them.
    private static final Logger OF_THE_SDK = Logger.getLogger("io.opentelemetry");

    private final AtomicBoolean said = new AtomicBoolean();

    private final String endpoint;

    /// @param endpoint where things are sent, for the message
    ExportFailures(String endpoint) {
        this.endpoint = endpoint;
        OF_THE_SDK.setUseParentHandlers(false);
        OF_THE_SDK.addHandler(this);
    }

    @Override
    public void publish(LogRecord line) {
        if (line.getLevel().intValue() >= Level.WARNING.intValue()) {
            boolean isFirst = said.compareAndSet(false, true);
            log.atLevel(isFirst ? WARN : DEBUG)
                    .log(
                            "can't send by OTLP to {}: {}{}",
                            endpoint,
                            line.getMessage(),
                            isFirst ? "; later failures are logged at DEBUG" : "");
        }
    }

    @Override
    public void flush() {
        // Every line is passed on at once.
    }

    @Override
    public void close() {
        OF_THE_SDK.removeHandler(this);
    }
}
