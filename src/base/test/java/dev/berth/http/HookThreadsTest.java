package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.hooks.InvocationRequest;
import dev.berth.memory.RequestMemory;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Whatever the hooks of some requests do, those of others have a thread.
@Tag("slow")
@Timeout(300)
class HookThreadsTest {

    /// Waits in `inputFn` where the body says so.
    private static final class Waiting extends TextHandler {
        private final AtomicInteger entered = new AtomicInteger();
        private final CountDownLatch end = new CountDownLatch(1);

        @Override
        public List<String> inputFn(InvocationRequest request) throws IOException {
            var records = super.inputFn(request);
            if (records.getFirst().startsWith("wait")) {
                entered.incrementAndGet();
                if (records.getFirst().startsWith("wait for memory")) {
                    RequestMemory.waiting();
                }
                try {
                    end.await();
                } catch (InterruptedException e) {
                    throw new IOException(e);
                }
            }
            return records;
        }
    }

    private final Waiting handler = new Waiting();
    private TestServer server;

    @BeforeEach
    void start() throws Exception {
        server = TestServer.with(handler).start();
    }

    @AfterEach
    void stop() throws Exception {
        handler.end.countDown();
        server.close();
    }

    @Test
    void hooksOfLargeRequestsTakeNoThreadFromSmallOnes() throws Exception {
        var large = "wait" + " ".repeat(300 << 10);
        var all = TestServer.hang(32, handler.entered::get, () -> server.invokeAsync(large));
        assertThat(server.invoke("small").body()).isEqualTo("SMALL");
        handler.end.countDown();
        assertThat(all).allSatisfy(one -> assertThat(one.get().statusCode()).isEqualTo(200));
    }

    @Test
    void hooksThatWaitForMemoryLetOthersRun() throws Exception {
        var all = TestServer.hang(100, handler.entered::get, () -> server.invokeAsync("wait for memory"));
        assertThat(server.invoke("small").body()).isEqualTo("SMALL");
        handler.end.countDown();
        assertThat(all).allSatisfy(one -> assertThat(one.get().statusCode()).isEqualTo(200));
    }
}
