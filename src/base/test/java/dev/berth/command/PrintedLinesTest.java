package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.berth.testing.CapturedLog;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/// How prints become lines. `ServeTest` has those of hooks, with their level and the ids of the request.
class PrintedLinesTest {

    private final ByteArrayOutputStream fallback = new ByteArrayOutputStream();
    private final Logger log = (Logger) LoggerFactory.getLogger("stdout");
    private final PrintStream out = PrintedLines.to(log, Level.INFO, new PrintStream(fallback));

    // Others get in between more often.
    @SuppressWarnings("ThreadPriorityCheck")
    @Test
    void manyThreadsDoNotMixTheirLines() throws Exception {
        try (var captured = new CapturedLog()) {
            var threads = IntStream.range(0, 20)
                    .mapToObj(number -> Thread.ofVirtual().start(() -> {
                        for (int i = 0; i < 50; i++) {
                            out.print(number + " ");
                            Thread.yield();
                            out.print(number);
                            out.println();
                        }
                    }))
                    .toList();
            for (var thread : threads) {
                thread.join();
            }
            assertThat(captured.events())
                    .hasSize(1000)
                    .allSatisfy(event -> assertThat(event.getFormattedMessage()).matches("(\\d+) \\1"));
        }
    }

    @Test
    void whatHasNoLineBreakIsLoggedInPieces() {
        try (var captured = new CapturedLog()) {
            out.write("x".repeat(20_000).getBytes(StandardCharsets.US_ASCII), 0, 20_000);
            out.println();
            assertThat(captured.events())
                    .extracting(event -> event.getFormattedMessage().length())
                    .containsExactly(8192, 8192, 3616);
        }
    }

    /// Logback itself prints where an appender fails.
    @Test
    void anAppenderThatPrintsDoesNotLogThat() {
        var appender = new AppenderBase<ILoggingEvent>() {
            @Override
            protected void append(ILoggingEvent event) {
                out.println("can't log " + event.getFormattedMessage());
            }
        };
        appender.setContext(log.getLoggerContext());
        appender.start();
        log.addAppender(appender);
        try (var captured = new CapturedLog()) {
            out.println("one");
            assertThat(captured.events())
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .containsExactly("one");
            assertThat(fallback.toString(StandardCharsets.UTF_8).strip()).isEqualTo("can't log one");
        } finally {
            log.detachAppender(appender);
        }
    }
}
