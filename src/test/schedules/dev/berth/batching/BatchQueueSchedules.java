package dev.berth.batching;

import static dev.berth.testing.Interleavings.explore;
import static dev.berth.testing.Interleavings.together;
import static dev.berth.testing.Interleavings.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.metrics.ServingMetrics;
import dev.berth.telemetry.RequestTrace;
import dev.berth.testing.Interleavings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// Requests that come, go, expire and are predicted while the model is closed.
class BatchQueueSchedules {

    private static final Duration LONG = Duration.ofHours(1);
    private static final ServingMetrics METRICS = new ServingMetrics();

    @Test
    void aFreeWorkerTakesWhatABusyOneLeaves() throws Exception {
        explore(() -> {
            try (var pool = new WorkerPool(2, () -> {}, METRICS);
                    var model = new Model("words", pool)) {
                together(
                        () -> assertThat(model.ask(LONG, "hold", "a").values()).containsExactly("HOLD", "A"),
                        () -> assertThat(model.ask(LONG, "b").values()).containsExactly("B"),
                        () -> {
                            until(() -> model.fake.order.contains("a"));
                            model.fake.release();
                        });
                assertThat(model.batcher.queue.size()).isZero();
            }
        });
    }

    @Test
    void aRequestEndsOnceWhateverEndsIt() throws Exception {
        explore(() -> {
            var pool = new WorkerPool(1, () -> {}, METRICS);
            var model = new Model("words", pool);
            together(
                    inVain(() -> model.ask(LONG, "a", "b")),
                    inVain(() -> model.ask(Duration.ofMillis(3), "c")),
                    inVain(() -> model.submit(LONG, "hold").abandon()),
                    model::close,
                    pool::close);
            assertThat(model.ended).hasValue(model.letIn.get());
            assertThat(model.batcher.queue.size()).isZero();
            assertThat(model.batcher.hasEnded()).isTrue();
            assertThat(model.fake.events).containsOnlyOnce("close 0");
        });
    }

    @Test
    void aWorkerThatWasGivenUpServesAgain() throws Exception {
        explore(() -> {
            try (var pool = new WorkerPool(1, () -> {}, METRICS);
                    var wedged = new Model("wedged", pool);
                    var other = new Model("other", pool)) {
                together(
                        inVain(() -> wedged.ask(Duration.ofMillis(1), "stuck")),
                        () -> assertThat(other.ask(LONG, "a").values()).containsExactly("A"),
                        () -> wedged.batcher.findStuck(Duration.ZERO),
                        wedged.fake::release);
                until(() -> wedged.batcher.liveWorkers() == 1);
                together(
                        () -> assertThat(wedged.ask(LONG, "b").values()).containsExactly("B"),
                        () -> assertThat(other.ask(LONG, "c").values()).containsExactly("C"));
            }
        });
    }

    /// What may be refused or not be answered.
    private static Interleavings.Body inVain(Interleavings.Body asking) {
        return () -> {
            try {
                asking.run();
            } catch (ServingException e) {
                assertThat(e.type()).isIn(ErrorType.NOT_READY, ErrorType.OVERLOADED, ErrorType.DEADLINE_EXCEEDED);
            }
        };
    }

    private static final class Model implements AutoCloseable {
        final FakeModel fake = new FakeModel();
        final AtomicInteger letIn = new AtomicInteger();
        final AtomicInteger ended = new AtomicInteger();
        final Batcher<String, String> batcher;

        Model(String name, WorkerPool pool) throws Exception {
            var limits = new BatchLimits(1, 1_000, Duration.ZERO, 4, Duration.ZERO);
            batcher = new Batcher<>(name, pool, limits, fake, Interleavings::now, METRICS.ofModel(name));
            batcher.start();
        }

        Submission<String, String> submit(Duration time, String... records) {
            return submit(time, new CompletableFuture<>(), records);
        }

        private Submission<String, String> submit(Duration time, CompletableFuture<Void> end, String... records) {
            var ticket = batcher.submit(
                    Serving.pieces(List.of(records)),
                    new PartSink.None<>(Interleavings.now() + time.toNanos()),
                    new Caller(() -> false, Map.of(), RequestTrace.NONE),
                    _ -> {
                        ended.incrementAndGet();
                        end.complete(null);
                    });
            letIn.incrementAndGet();
            return ticket;
        }

        Predictions<String> ask(Duration time, String... records) throws Exception {
            var end = new CompletableFuture<Void>();
            long deadline = Interleavings.now() + time.toNanos();
            var ticket = submit(time, end, records);
            while (!end.isDone()) {
                try {
                    end.get(Math.max((deadline - Interleavings.now()) / 2, 1_000_000), TimeUnit.NANOSECONDS);
                } catch (TimeoutException _) {
                    ticket.ask();
                }
            }
            return Serving.predictions(ticket);
        }

        @Override
        public void close() {
            batcher.close();
        }
    }
}
