package dev.berth.http;

import static dev.berth.testing.TestServer.assertAll;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.memory.RequestMemory;
import dev.berth.testing.Gate;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
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

    private final AtomicInteger entered = new AtomicInteger();
    private final Gate end = new Gate(1);
    private TestServer server;

    @BeforeEach
    void start() throws Exception {
        var handler = TextHandler.before("inputFn", lines -> {
            if (lines.getFirst().startsWith("wait")) {
                entered.incrementAndGet();
                if (lines.getFirst().startsWith("wait for memory")) {
                    RequestMemory.waiting();
                }
                end.pass();
            }
        });
        server = TestServer.with(handler).start();
    }

    @AfterEach
    void stop() throws Exception {
        end.open();
        server.close();
    }

    @Test
    void hooksOfLargeRequestsTakeNoThreadFromSmallOnes() throws Exception {
        var large = "wait" + " ".repeat(300 << 10);
        var all = TestServer.hang(32, entered::get, () -> server.invokeAsync(large));
        assertThat(server.invoke("small").body()).isEqualTo("SMALL");
        end.open();
        assertAll(all, 200);
    }

    @Test
    void hooksThatWaitForMemoryLetOthersRun() throws Exception {
        var all = TestServer.hang(100, entered::get, () -> server.invokeAsync("wait for memory"));
        assertThat(server.invoke("small").body()).isEqualTo("SMALL");
        end.open();
        assertAll(all, 200);
    }
}
