package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.berth.testing.CapturedLog;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What becomes of events when whoever reads the log is slow, or gone.
@Timeout(600)
class LogWriterTest {

    private static final int EVENT = 1000;

    /// A stream that takes nothing until it is opened.
    private static final class FakeStalledStream extends OutputStream {
        private final ByteArrayOutputStream taken = new ByteArrayOutputStream();
        private final CountDownLatch open = new CountDownLatch(1);

        @Override
        public void write(int b) {
            throw new AssertionError("an event is one write");
        }

        @Override
        public void write(byte[] bytes, int offset, int length) {
            try {
                open.await();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            synchronized (this) {
                taken.write(bytes, offset, length);
            }
        }

        synchronized List<String> lines() {
            return taken.toString(StandardCharsets.UTF_8).lines().toList();
        }
    }

    private final FakeStalledStream stream = new FakeStalledStream();
    private final LogWriter writer = new LogWriter(stream);

    @Test
    void whatDoesNotFitIsLostAndCountedAndTheRestKeepsItsOrder() {
        var events = IntStream.range(0, 3000).mapToObj(LogWriterTest::event).toList();
        events.forEach(event -> writer.write(bytes(event), 0, EVENT));
        int kept = (1 << 20) / EVENT;
        assertThat(writer.dropped()).isEqualTo(3000 - kept);

        try (var log = new CapturedLog(LogWriter.class)) {
            stream.open.countDown();
            await().untilAsserted(() -> assertThat(stream.lines()).isEqualTo(events.subList(0, kept)));
            writer.write(bytes("after"), 0, 6);
            await().untilAsserted(() -> assertThat(stream.lines()).last().isEqualTo("after"));
            assertThat(log.events())
                    .singleElement()
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .isEqualTo(3000 - kept + " events of the log were lost, because nobody read it in time");
        }
    }

    @Test
    void anEventLargerThanAllIsTakenWhereNothingWaits() {
        stream.open.countDown();
        var large = "x".repeat(3 << 20);
        writer.write(bytes(large), 0, large.length() + 1);
        writer.close();
        assertThat(stream.lines()).containsExactly(large);
        assertThat(writer.dropped()).isZero();
    }

    /// The metrics know them too. `StalledLogTest` ends a process whose log nobody reads.
    @Test
    void aWriteThatFailsLosesItsEventOnly() {
        var lines = new ByteArrayOutputStream();
        var full = new LogWriter(new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("no space left on device");
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                if (new String(bytes, offset, length, StandardCharsets.UTF_8).startsWith("bad")) {
                    write(0);
                }
                lines.write(bytes, offset, length);
            }
        });
        List.of("bad", "good", "bad", "bad").forEach(event -> full.write(bytes(event), 0, event.length() + 1));
        full.close();
        assertThat(lines.toString(StandardCharsets.UTF_8)).isEqualTo("good\n");
        assertThat(full.dropped()).isEqualTo(3);
    }

    private static String event(int number) {
        return ("event " + number + " ".repeat(EVENT)).substring(0, EVENT - 1);
    }

    private static byte[] bytes(String line) {
        return (line + "\n").getBytes(StandardCharsets.UTF_8);
    }
}
