package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.Gate;
import dev.berth.testing.HookProbe;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.OutputStream;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Whatever a client or a hook does, a caller is answered by the deadline. A [RawConnection] waits
/// for 2 minutes at most.
@Timeout(600)
class DeadlineTest {

    private static final String CHUNKED = "POST /invocations HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag("INV-12")
    void anUploadThatStallsOrDripsIs504AtTheDeadline(boolean drips) throws Exception {
        try (var server = TestServer.with(new TextHandler()).start("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=1");
                var connection = new RawConnection(server.port())) {
            connection.send("POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc");
            var in = connection.socket().getInputStream();
            await().until(() -> in.available() > 0 || (drips && connection.send("x") == null));
            assertThat(connection.readResponse())
                    .startsWith("HTTP/1.1 504")
                    .containsPattern("the request's time ran out after \\d+ bytes of its body");
        }
    }

    @Test
    @Tag("slow")
    void aHookThatReadsALargeUploadAsAStreamIsLeftAtTheDeadlineWhenItStalls() throws Exception {
        var handler = TextHandler.reading(request -> {
            request.body().transferTo(OutputStream.nullOutputStream());
            return List.of("read");
        });
        try (var server = TestServer.with(handler).start("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=2");
                var connection = new RawConnection(server.port())) {
            connection
                    .send("POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 20000000\r\n\r\n")
                    .send(new byte[10_000_000]);
            assertThat(connection.readResponse()).startsWith("HTTP/1.1 504");
            await().untilAsserted(() -> assertThat(server.invoke("a").body()).isEqualTo("READ"));
        }
    }

    @Test
    void aStalledUploadTakesNoMemoryThatOthersNeed() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start();
                var chunked = new RawConnection(server.port());
                var declared = new RawConnection(server.port())) {
            chunked.send(CHUNKED + "200000\r\n").send(new byte[0x200000]).send("\r\n");
            declared.send("POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\nabc");
            var body = "b".repeat(2_000_000);
            assertThat(server.invoke(body).body()).hasSize(body.length());
        }
    }

    @Test
    void aDeadlineBetweenPredictFnAndTheAnswerIsKeptForEveryCaller() throws Exception {
        var gate = new Gate(1);
        var handler = TextHandler.before("outputFn", _ -> gate.pass());
        try (var server = TestServer.with(handler).start("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=1")) {
            var callers =
                    Stream.generate(() -> server.invokeAsync("a")).limit(40).toList();
            assertThat(callers).allSatisfy(caller -> assertStatus(caller.get(), 504, "the request's time ran out"));
            gate.open();
        }
    }

    @Test
    @Tag("slow")
    void aRequestWhoseTimeRunsOutInTheQueueGivesItsPlaceBackAndIsNotPredicted() throws Exception {
        HookProbe.reset();
        HookProbe.hold();
        var predicted = new CopyOnWriteArrayList<String>();
        var handler = TextHandler.before("predictFn", lines -> {
            predicted.addAll(lines);
            HookProbe.waitForLock();
        });
        try (var server = TestServer.with(handler)
                .start(
                        "SAGEMAKER_MODEL_SERVER_WORKERS=1",
                        "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=2",
                        "BERTH_QUEUE_CAPACITY=1")) {
            var running = server.invokeAsync("a");
            await().until(() -> predicted.contains("a"));
            for (var body : List.of("b\nc", "d")) {
                assertStatus(server.invoke(body), 504, "the request's time ran out while it was queued");
            }
            assertStatus(running.join(), 504, "while predictFn ran");
            HookProbe.letGo();
            await().untilAsserted(() -> assertThat(server.invoke("e").body()).isEqualTo("E"));
            assertThat(predicted).doesNotContain("b", "c", "d");
            server.awaitMetrics("berth_abandoned_total{model=\"model\"} 3.0", "berth_queue_depth{model=\"model\"} 0.0");
        }
    }

    @Test
    @Tag("slow")
    void aCallerWhoseHookNeverRanIsToldThatItWaited() throws Exception {
        var gate = new Gate(1);
        var arrived = new AtomicInteger();
        var handler = TextHandler.before("inputFn", _ -> {
            arrived.incrementAndGet();
            // Its time may be over, and its thread is not free before it has passed.
            gate.passWhateverInterrupts();
        });
        try (var server = TestServer.with(handler).start("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=3")) {
            var busy = TestServer.hang(32, arrived::get, () -> server.invokeAsync("a"));
            var waited = server.invoke("b");
            assertStatus(waited, 504, "it waited for", "inputFn to run");
            gate.open();
            busy.forEach(caller -> caller.join());
        }
    }
}
