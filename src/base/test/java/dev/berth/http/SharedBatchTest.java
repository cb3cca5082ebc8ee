package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.Gate;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What callers owe each other whose records share batches, and a queue.
class SharedBatchTest {

    /// Fails a batch with `bad`, never ends one with `slow` by itself, and ends one with `held` when the
    /// test says so.
    private static final class Model extends TextHandler {

        private final Gate gate = new Gate(1);
        private final Gate held = new Gate(1);
        private final List<List<String>> batches = new CopyOnWriteArrayList<>();

        @Override
        public List<String> predictFn(List<String> records, Object model) throws Exception {
            if (records.contains("first")) {
                gate.pass();
            }
            batches.add(List.copyOf(records));
            if (records.contains("bad")) {
                throw new IllegalArgumentException("bad is not good");
            }
            if (records.contains("held")) {
                held.pass();
            }
            if (records.contains("slow")) {
                new CountDownLatch(1).await();
            }
            return super.predictFn(records, model);
        }
    }

    private final Model model = new Model();

    @AutoClose
    private TestServer server;

    @BeforeEach
    void start() throws Exception {
        server = TestServer.with(model)
                .start(
                        "SAGEMAKER_MODEL_SERVER_WORKERS=1",
                        "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=8",
                        "BERTH_MAX_BATCH_SIZE=3");
    }

    @ParameterizedTest
    @CsvSource({"bad, 500", "slow, 504"})
    void aRecordThatFailsOrTakesTooLongCostsItsCallerOnly(String record, int status) throws Exception {
        var answers = askTogether(record, "b", "c");
        assertThat(answers.get(0).statusCode()).isEqualTo(status);
        assertThat(answers.get(1).body()).isEqualTo("B");
        assertThat(answers.get(2).body()).isEqualTo("C");
        assertThat(model.batches).contains(List.of(record, "b", "c"));
    }

    @Test
    void onceARecordHasFailedTheOthersOfItsRequestCostNothing() throws Exception {
        assertStatus(askTogether("a\nbad\nc\nd\ne").getFirst(), 500, "bad is not good");
        assertThat(server.invoke("z").body()).isEqualTo("Z");
        assertThat(model.batches)
                .containsExactly(
                        List.of("first"), List.of("a", "bad", "c"), List.of("a"), List.of("bad"), List.of("z"));
    }

    @Test
    void aCallerWhoLeavesInterruptsNoBatchThatAnotherOneWaitsFor() throws Exception {
        var first = server.invokeAsync("first");
        model.gate.awaitArrival();
        var held = server.invokeAsync("held");
        server.awaitQueued(1);
        try (var leaves = new RawConnection(server.port())) {
            leaves.send("POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na");
            server.awaitQueued(2);
            model.gate.open();
            first.join();
            model.held.awaitArrival();
        }
        server.awaitMetrics("status=\"499\"} 1.0");
        model.held.open();
        assertThat(held.get().body()).isEqualTo("HELD");
        assertThat(model.batches).containsExactly(List.of("first"), List.of("held", "a"));
    }

    @Test
    void aDelayLetsABatchFillUpAndAFullOneGoesAtOnce() throws Exception {
        try (var patient = TestServer.with(model)
                        .start(
                                "SAGEMAKER_MODEL_SERVER_WORKERS=1",
                                "BERTH_MAX_BATCH_SIZE=2",
                                "BERTH_MAX_BATCH_DELAY_MS=60000");
                var hasty = TestServer.with(model).start("BERTH_MAX_BATCH_DELAY_MS=5")) {
            var first = patient.invokeAsync("first\nx");
            model.gate.awaitArrival();
            var waited = patient.invokeAsync("a");
            patient.awaitQueued(1);
            model.gate.open();
            assertThat(first.get().body()).isEqualTo("FIRST\nX");
            assertThat(patient.invoke("b").body()).isEqualTo("B");
            assertThat(waited.get().body()).isEqualTo("A");
            assertThat(model.batches).containsExactly(List.of("first", "x"), List.of("a", "b"));
            assertThat(hasty.invoke("c").body()).as("after the delay").isEqualTo("C");
        }
    }

    @Test
    void aRequestOfManyRecordsDoesNotHoldUpOneThatCameLater() throws Exception {
        var many = String.join("\n", List.of("1", "2", "3", "4", "5", "6", "7", "8", "9"));
        var answers = askTogether(many, "small");
        assertThat(answers.get(0).body()).isEqualTo(many);
        assertThat(answers.get(1).body()).isEqualTo("SMALL");
        var batches = List.copyOf(model.batches);
        assertThat(batches.getLast()).doesNotContain("small");
        assertThat(batches).flatExtracting(batch -> batch).contains("small");
    }

    /// Answers to requests that have all waited before the only worker was free.
    private List<HttpResponse<String>> askTogether(String... bodies) throws Exception {
        var first = server.invokeAsync("first");
        model.gate.awaitArrival();
        var asked = new ArrayList<CompletableFuture<HttpResponse<String>>>();
        for (var body : bodies) {
            asked.add(server.invokeAsync(body));
            server.awaitQueued(asked.size());
        }
        model.gate.open();
        assertThat(first.get().body()).isEqualTo("FIRST");
        return asked.stream().map(CompletableFuture::join).toList();
    }
}
