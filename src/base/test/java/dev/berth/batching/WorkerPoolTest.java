package dev.berth.batching;

import static dev.berth.batching.Serving.assertAnswered;
import static dev.berth.batching.Serving.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.error.ErrorType;
import dev.berth.hooks.PartStream;
import dev.berth.metrics.ServingMetrics;
import dev.berth.telemetry.RequestTrace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Several models on the same workers.
@Timeout(600)
class WorkerPoolTest {

    private static final BatchLimits ONE_BY_ONE = new BatchLimits(1, 1_000, Duration.ZERO, 1_000, Duration.ZERO);

    private final ServingMetrics metrics = new ServingMetrics();
    private final WorkerPool pool = Serving.pool(1);
    private final List<Serving> models = new ArrayList<>();

    @AfterEach
    void stop() {
        models.forEach(Serving::close);
        metrics.close();
    }

    @Test
    void aModelThatIsNotAskedCostsNoThread() throws Exception {
        var before = workerThreads();
        for (int model = 0; model < 50; model++) {
            model();
        }
        assertAnswered(models.getFirst().ask("a"), "A");
        assertThat(workerThreads()).isLessThanOrEqualTo(before + 1);
    }

    @Test
    void modelsTakeTurnsBatchByBatch() throws Exception {
        var first = model();
        var second = model();
        var held = first.askAndHold();
        var many = first.askAndWait("a", "b", "c", "d");
        var few = second.askAndWait("x");
        first.model.release();

        assertAnswered(held, "HOLD");
        assertAnswered(few, "X");
        assertAnswered(many, "A", "B", "C", "D");
        assertThat(order).containsSubsequence("hold", "x", "b");
    }

    @Test
    void aCallerWhoHasGoneCostsItsModelNoTurn() throws Exception {
        var first = model();
        var second = model();
        var held = first.askAndHold();
        var gone = second.ask(Serving.LONG, () -> true, "gone");
        second.awaitDepth(1);
        var there = second.askAndWait("x");
        var next = first.askAndWait("b");
        first.model.release();

        assertAnswered(held, "HOLD");
        assertRefused(gone, ErrorType.CALLER_GONE);
        assertAnswered(there, "X");
        assertAnswered(next, "B");
        assertThat(order).containsExactly("hold", "x", "b");
    }

    @Test
    void aStateThatHangsWhenItIsClosedKeepsNoOtherModelFromServing() throws Exception {
        var released = new CountDownLatch(1);
        try (var wedged = Batcher.open(
                "stepFn", pool, ONE_BY_ONE, closesWith(released), System::nanoTime, metrics.ofModel("streams"))) {
            var other = model();
            wedged.submit(
                            Serving.pieces(List.of("a")),
                            Serving.parts(1, System.nanoTime() + Serving.LONG.toNanos()),
                            new Caller(() -> false, Map.of(), RequestTrace.NONE))
                    .predicted()
                    .get();
            var waiting = other.askAndWait("b");

            await().until(() -> {
                wedged.findStuck(Duration.ZERO);
                return waiting.isDone();
            });
            assertAnswered(waiting, "B");
            released.countDown();
        }
    }

    private static Predictor.Factory<String, String> closesWith(CountDownLatch released) {
        return _ -> new InTwoParts() {
            @Override
            public void end(Iterator<String> state) throws Exception {
                released.await();
            }
        };
    }

    /// Says each record twice.
    private static class InTwoParts implements Predictor.InSteps<String, String, Iterator<String>> {

        @Override
        public Iterator<String> begin(String record) throws Exception {
            return List.of(record, record).iterator();
        }

        @Override
        public void step(List<PartStream<Iterator<String>, String>> streams) {
            for (var stream : streams) {
                stream.emit(stream.state().next());
                if (!stream.state().hasNext()) {
                    stream.end();
                }
            }
        }

        @Override
        public void end(Iterator<String> state) throws Exception {}

        @Override
        public List<String> predict(List<String> records) {
            return records;
        }

        @Override
        public void close() {}
    }

    @Test
    @Tag("slow")
    void aModelThatIsUnloadedWhileItHoldsItsThreadGivesItsPlaceToTheOthers() throws Exception {
        var wedged = model();
        var other = model();
        var stuck = wedged.ask("stuck");
        wedged.awaitRunning("stuck");
        wedged.batcher.close();

        assertRefused(stuck, ErrorType.NOT_READY);
        assertThat(wedged.batcher.hasEnded()).isFalse();
        assertAnswered(other.ask("a"), "A");

        wedged.model.release();
        await().until(wedged.batcher::hasEnded);
        assertThat(wedged.model.events).endsWith("close 0");
    }

    @Test
    @Tag("slow")
    void aPredictorThatTakesLongToCloseIsStuckUntilItIsClosed() throws Exception {
        var closing = model();
        closing.model.holdsClose = true;
        assertAnswered(closing.ask("a"), "A");
        closing.batcher.close();
        assertThat(closing.batcher.hasEnded()).isFalse();
        assertThat(pool.stuck).hasValue(1);

        closing.model.release();
        await().until(closing.batcher::hasEnded);
        assertThat(pool.stuck).hasValue(0);
    }

    /// Whichever of two workers has its record.
    @Test
    void aReaderThatKeepsUpAgainGetsItsNextPartAtOnce() throws Exception {
        var both = new CyclicBarrier(2);
        Predictor.Factory<String, String> steps = _ -> new InTwoParts() {
            @Override
            public Iterator<String> begin(String record) throws Exception {
                both.await();
                return super.begin(record);
            }
        };
        try (var batcher = Batcher.open(
                "stepFn", Serving.pool(2), ONE_BY_ONE, steps, System::nanoTime, metrics.ofModel("streams"))) {
            var readers = List.of(new Reader(), new Reader());
            var requests = readers.stream()
                    .map(reader -> batcher.submit(
                            Serving.pieces(List.of("a")), reader, new Caller(() -> false, Map.of(), RequestTrace.NONE)))
                    .toList();
            await().until(() -> readers.stream().noneMatch(Reader::hasRoom));
            for (int last = 1; last >= 0; last--) {
                readers.get(last).room = 2;
                batcher.ask(requests.get(last));
                assertThat(requests.get(last).predicted()).succeedsWithin(Duration.ofSeconds(20));
            }
        }
    }

    private static final class Reader implements PartSink<String> {
        private final AtomicInteger parts = new AtomicInteger();
        private final long deadline = System.nanoTime() + Serving.LONG.toNanos();
        private volatile int room = 1;

        @Override
        public void take(int index, String part) {
            parts.incrementAndGet();
        }

        @Override
        public boolean hasRoom() {
            return parts.get() < room;
        }

        @Override
        public long deadlineNanos() {
            return deadline;
        }
    }

    @Test
    void aModelThatIsUnloadedWaitsForNoTurnOfOthers() throws Exception {
        var busy = model();
        var leaving = model();
        busy.holdWorker();
        var waiting = leaving.askAndWait("a");
        leaving.batcher.close();

        assertRefused(waiting, ErrorType.NOT_READY);
        assertThat(leaving.batcher.hasEnded()).isTrue();
        assertThat(leaving.model.events).containsExactly("open 0", "close 0");
    }

    /// What all models have been asked, in order.
    private final List<String> order = new CopyOnWriteArrayList<>();

    private Serving model() throws Exception {
        var serving = new Serving(new FakeModel(), pool, ONE_BY_ONE);
        serving.model.order = order;
        models.add(serving);
        return serving;
    }

    private static long workerThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("berth-worker-"))
                .count();
    }
}
