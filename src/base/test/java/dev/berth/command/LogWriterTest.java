package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What becomes of events that are large, or can't be written. `StalledLogTest` has a reader that is slow.
@Timeout(600)
class LogWriterTest {

    @Test
    void anEventLargerThanAllIsTakenWhereNothingWaits() {
        var lines = new ByteArrayOutputStream();
        var writer = new LogWriter(lines);
        var large = "x".repeat(3 << 20);
        writer.write(bytes(large), 0, large.length() + 1);
        writer.close();
        assertThat(lines.toString(StandardCharsets.UTF_8).lines()).containsExactly(large);
        assertThat(writer.dropped()).isZero();
    }

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

    private static byte[] bytes(String line) {
        return (line + "\n").getBytes(StandardCharsets.UTF_8);
    }
}
