package dev.berth.batching;

import static dev.berth.testing.Interleavings.explore;
import static dev.berth.testing.Interleavings.orRefused;
import static dev.berth.testing.Interleavings.together;
import static dev.berth.testing.Interleavings.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.error.ErrorType;
import dev.berth.metrics.ServingMetrics;
import dev.berth.telemetry.RequestTrace;
import dev.berth.testing.Interleavings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/// Requests that come, go, expire and are predicted while the model is closed.
class BatcherSchedules {

    private static final Duration LONG = Duration.ofHours(1);
    private static final ServingMetrics METRICS = new ServingMetrics();

    @Test
    void aFreeWorkerTakesWhatABusyOneLeaves() throws Exception {
        explore(() -> {
            try (var model = new Model("words", Serving.pool(2))) {
                together(
                        () -> assertThat(model.ask(LONG, "hold", "a")).containsExactly("HOLD", "A"),
                        () -> assertThat(model.ask(LONG, "b")).containsExactly("B"),
                        () -> {
                            until(() -> model.fake.order.contains("a"));
                            model.fake.release();
                        });
                assertThat(model.batcher.locked(model.batcher.line::size)).isZero();
            }
        });
    }

    @Test
    void aRequestEndsAndIsLetGoWhateverEndsIt() throws Exception {
        explore(() -> {
            var model = new Model("words", Serving.pool(1));
            together(
                    inVain(() -> model.ask(LONG, "a", "b")),
                    inVain(() -> model.ask(Duration.ofMillis(3), "c")),
                    inVain(() -> model.batcher.abandon(
                            model.submit(Serving.parts(1, Interleavings.now() + LONG.toNanos()), "hold"))),
                    model::close);
            assertThat(model.letIn).allMatch(request -> request.predicted().isDone());
            assertThat(model.letIn).allMatch(request -> request.released().isDone());
            assertThat(model.batcher.locked(model.batcher.line::size)).isZero();
            assertThat(model.batcher.hasEnded()).isTrue();
            assertThat(model.fake.events).containsOnlyOnce("close 0");
        });
    }

    @Test
    void aWorkerThatWasGivenUpServesAgain() throws Exception {
        explore(() -> {
            var pool = Serving.pool(1);
            try (var wedged = new Model("wedged", pool);
                    var other = new Model("other", pool)) {
                together(
                        inVain(() -> wedged.ask(Duration.ofMillis(1), "stuck")),
                        () -> assertThat(other.ask(LONG, "a")).containsExactly("A"),
                        () -> wedged.batcher.findStuck(Duration.ZERO),
                        wedged.fake::release);
                until(() -> wedged.batcher.liveWorkers() == 1);
                together(
                        () -> assertThat(wedged.ask(LONG, "b")).containsExactly("B"),
                        () -> assertThat(other.ask(LONG, "c")).containsExactly("C"));
            }
        });
    }

    /// Where the request comes as the thread ends, neither may wait for the other.
    @Test
    void aWorkerWhoseThreadHasEndedServesAgain() throws Exception {
        explore(() -> {
            try (var model = new Model("words", Serving.pool(1))) {
                assertThat(model.ask(LONG, "a")).containsExactly("A");
                long start = Interleavings.now();
                Thread.sleep(SharedThreads.IDLE.minusMillis(2));
                assertThat(model.ask(LONG, "b")).containsExactly("B");
                assertThat(Interleavings.now() - start)
                        .isLessThan(SharedThreads.IDLE.plusSeconds(1).toNanos());
            }
        });
    }

    /// What may be refused or not be answered.
    private static Interleavings.Body inVain(Interleavings.Body asking) {
        return orRefused(asking, ErrorType.NOT_READY, ErrorType.OVERLOADED, ErrorType.DEADLINE_EXCEEDED);
    }

    private static final class Model implements AutoCloseable {
        final FakeModel fake = new FakeModel();
        final List<Submission<String, String>> letIn = new CopyOnWriteArrayList<>();
        final Batcher<String, String> batcher;

        Model(String name, WorkerPool pool) throws Exception {
            var limits = new BatchLimits(1, 1_000, Duration.ZERO, 4, Duration.ZERO);
            batcher = Batcher.open(name, pool, limits, fake, Interleavings::now, METRICS.ofModel(name));
        }

        List<String> ask(Duration time, String... records) throws Exception {
            long deadline = Interleavings.now() + time.toNanos();
            var parts = Serving.parts(records.length, deadline);
            Serving.awaitEnd(batcher, submit(parts, records), deadline, Interleavings::now);
            return parts.all();
        }

        Submission<String, String> submit(PartSink<String> sink, String... records) {
            var submission = batcher.submit(
                    Serving.pieces(List.of(records)), sink, new Caller(() -> false, Map.of(), RequestTrace.NONE));
            letIn.add(submission);
            return submission;
        }

        @Override
        public void close() {
            batcher.close();
        }
    }
}
