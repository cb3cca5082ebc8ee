package dev.berth.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/// Connections that always have more bytes to read.
public final class EndlessConnections {

    private EndlessConnections() {}

    /// Others are answered meanwhile, and nobody ends these connections.
    public static void assertKeepNobodyOut(TestServer server, int port, int count, String head, String more)
            throws Exception {
        var ended = new AtomicInteger();
        var asked = new CountDownLatch(1);
        var begun = new CountDownLatch(count);
        for (int i = 0; i < count; i++) {
            Thread.ofPlatform().start(() -> {
                try (var endless = new RawConnection(port).send(head)) {
                    while (asked.getCount() > 0) {
                        endless.send(more);
                        begun.countDown();
                    }
                } catch (IOException _) {
                    ended.incrementAndGet();
                }
            });
        }
        begun.await();
        for (int i = 0; i < 20; i++) {
            assertThat(server.invoke("a").body()).isEqualTo("A");
        }
        assertThat(ended).hasValue(0);
        asked.countDown();
    }
}
