package dev.berth.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import dev.berth.memory.MemoryBudget;
import dev.berth.memory.RequestMemory.ProcessMemory;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.util.List;

/// Finds what requests have left behind in a server: sockets, sessions, streams, threads, buffers,
/// and what they took of the account of memory.
public final class Leftovers {

    /// Carriers of virtual threads, and hook threads that have not ended yet.
    private static final int THREADS = 50;

    /// What Jetty keeps in its pool. Two hundred connections with a buffer each would be more.
    private static final long BUFFER_BYTES = 2 << 20;

    private final TestServer server;
    private final int threads;
    private final long bufferBytes;

    private Leftovers(TestServer server) {
        this.server = server;
        this.threads = platformThreads();
        this.bufferBytes = bufferBytes();
    }

    /// Remembers what there is now. Jetty's pool has its buffers after requests like those that will
    /// be looked at.
    public static Leftovers since(TestServer server) {
        return new Leftovers(server);
    }

    /// Waits until nothing is left, and fails where that takes too long.
    public void assertNone() {
        await().untilAsserted(() -> {
            var process = ProcessMemory.ofThisProcess();
            for (var part : List.of(process.few(), process.medium(), process.large())) {
                var all = part.tryTake(part.bytes());
                all.ifPresent(MemoryBudget.Share::close);
                assertThat(all).isPresent();
            }
            assertThat(server.get("/metrics")
                            .body()
                            .lines()
                            .filter(line -> line.matches("berth_(sockets|sessions|streams|queue_depth)(\\{.*)? .*")))
                    .allMatch(line -> line.endsWith(" 0.0"));
            assertThat(virtualThreads()).isEmpty();
            assertThat(platformThreads()).isLessThan(threads + THREADS);
            assertThat(bufferBytes()).isLessThan(bufferBytes + BUFFER_BYTES);
        });
    }

    private static int platformThreads() {
        return ManagementFactory.getThreadMXBean().getThreadCount();
    }

    /// Those that live for a request, a socket or a session. Only a dump has virtual threads.
    private static List<String> virtualThreads() throws IOException {
        var directory = Files.createTempDirectory("berth-threads");
        var dump = directory.resolve("threads.txt");
        ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                .dumpThreads(dump.toString(), ThreadDumpFormat.TEXT_PLAIN);
        var found = Files.readAllLines(dump).stream()
                .filter(line -> line.matches("#\\d+ \"berth-(request|socket|session).*"))
                .toList();
        Files.delete(dump);
        Files.delete(directory);
        return found;
    }

    private static long bufferBytes() {
        return ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
    }
}
