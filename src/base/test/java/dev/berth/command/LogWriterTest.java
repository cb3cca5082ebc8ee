package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
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
    private final LogWriter writer = new LogWriter(stream, lost -> bytes("lost " + lost));

    @Test
    void whatDoesNotFitIsLostAndCountedAndTheRestKeepsItsOrder() {
        var events = IntStream.range(0, 3000).mapToObj(LogWriterTest::event).toList();
        events.forEach(event -> writer.write(bytes(event), 0, EVENT));
        int kept = (1 << 20) / EVENT;
        assertThat(writer.dropped()).isEqualTo(3000 - kept);

        stream.open.countDown();
        await().untilAsserted(() -> assertThat(stream.lines()).hasSize(kept + 1));
        assertThat(stream.lines().subList(0, kept)).isEqualTo(events.subList(0, kept));
        assertThat(stream.lines()).last().isEqualTo("lost " + (3000 - kept));

        writer.write(bytes("after"), 0, 6);
        await().untilAsserted(() -> assertThat(stream.lines()).last().isEqualTo("after"));
        assertThat(stream.lines().stream().filter(line -> line.startsWith("lost")))
                .hasSize(1);
    }

    @Test
    void anEventLargerThanAllIsTakenWhereNothingWaits() {
        stream.open.countDown();
        var large = "x".repeat(3 << 20);
        writer.write(bytes(large), 0, large.length() + 1);
        await().untilAsserted(() -> assertThat(stream.lines()).containsExactly(large));
        assertThat(writer.dropped()).isZero();
    }

    @Test
    void theEndWaitsForWhatIsQueuedAndNotForAStalledReader() {
        stream.open.countDown();
        IntStream.range(0, 500).forEach(number -> writer.write(bytes(event(number)), 0, EVENT));
        writer.close();
        assertThat(stream.lines()).hasSize(500);

        var stalled = new FakeStalledStream();
        var stuck = new LogWriter(stalled, lost -> bytes("lost " + lost));
        stuck.write(bytes(event(1)), 0, EVENT);
        stuck.close();
        assertThat(stalled.lines()).isEmpty();
        stalled.open.countDown();
    }

    @Test
    void aWriteThatFailsLosesItsEventOnly() {
        var lines = new ByteArrayOutputStream();
        var full = new LogWriter(
                new OutputStream() {
                    @Override
                    public void write(int b) throws IOException {
                        throw new IOException("no space left on device");
                    }

                    @Override
                    public void write(byte[] bytes, int offset, int length) throws IOException {
                        if (new String(bytes, offset, length, StandardCharsets.UTF_8).startsWith("bad")) {
                            throw new IOException("no space left on device");
                        }
                        lines.write(bytes, offset, length);
                    }
                },
                lost -> bytes("lost " + lost));
        full.write(bytes("bad"), 0, 4);
        full.write(bytes("good"), 0, 5);
        full.close();
        assertThat(lines.toString(StandardCharsets.UTF_8)).contains("good\n");
        assertThat(full.dropped()).isEqualTo(1);
    }

    @Test
    void aStreamThatTakesNothingLosesEachEventOnce() {
        var written = new AtomicInteger();
        var gone = new LogWriter(
                new OutputStream() {
                    @Override
                    public void write(int b) throws IOException {
                        written.incrementAndGet();
                        throw new IOException("broken pipe");
                    }

                    @Override
                    public void write(byte[] bytes, int offset, int length) throws IOException {
                        write(0);
                    }
                },
                lost -> bytes("lost " + lost));
        IntStream.range(0, 3).forEach(number -> gone.write(bytes(event(number)), 0, EVENT));
        gone.close();
        assertThat(gone.dropped()).isEqualTo(3);
        assertThat(written).hasValue(3);
    }

    private static String event(int number) {
        return ("event " + number + " ".repeat(EVENT)).substring(0, EVENT - 1);
    }

    private static byte[] bytes(String line) {
        return (line + "\n").getBytes(StandardCharsets.UTF_8);
    }
}
