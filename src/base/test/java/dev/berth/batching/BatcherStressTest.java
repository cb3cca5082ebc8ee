package dev.berth.batching;

import static dev.berth.batching.Serving.assertAnswered;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.telemetry.RequestTrace;
import dev.berth.testing.TestThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class BatcherStressTest {

    private static final int CALLERS = 300;
    private static final int REQUESTS = 20;

    private enum Outcome {
        ANSWERED,
        POISONED,
        EXPIRED,
        ABANDONED,
        OVERLOADED
    }

    @Test
    @Tag("BAT-15")
    void nothingIsLostOrMixedUpWhateverHappensToTheNeighbours() throws Exception {
        var outcomes = new ConcurrentHashMap<Outcome, Integer>();
        try (var serving = new Serving(
                        new FakeModel(),
                        Serving.pool(3),
                        new BatchLimits(8, 200, Duration.ofNanos(50_000), 500, Duration.ZERO));
                var callers = new TestThreads()) {
            var all = new ArrayList<Future<?>>();
            for (int caller = 0; caller < CALLERS; caller++) {
                int id = caller;
                all.add(callers.submit(() -> {
                    var random = new Random(id);
                    for (int request = 0; request < REQUESTS; request++) {
                        outcomes.merge(call(serving, "%d-%d".formatted(id, request), random), 1, Integer::sum);
                    }
                    return null;
                }));
            }
            for (var caller : all) {
                caller.get();
            }

            assertThat(outcomes.values().stream().mapToInt(count -> count).sum())
                    .isEqualTo(CALLERS * REQUESTS);
            assertThat(outcomes).containsKeys(Outcome.ANSWERED, Outcome.POISONED);
            assertAnswered(serving.ask("calm"), "CALM");
            assertThat(serving.batcher.liveWorkers()).isEqualTo(3);
            await().untilAsserted(() -> assertThat(serving.depth()).isZero());
        }
    }

    /// Sends records that only this call can have, and checks that the outcome is its own.
    private static Outcome call(Serving serving, String id, Random random) throws InterruptedException {
        boolean poisoned = random.nextInt(20) == 0;
        boolean hasty = random.nextInt(20) == 0;
        boolean leaves = random.nextInt(20) == 0;
        var own =
                IntStream.range(0, 1 + random.nextInt(5)).mapToObj(i -> id + "r" + i + "w".repeat(random.nextInt(40)));
        var records = Stream.concat(own, poisoned ? Stream.of("poison") : Stream.of("calm"))
                .toList();
        var timeout = hasty ? Duration.ofNanos(random.nextInt(2_000_000)) : Serving.LONG;
        try {
            var values = Serving.predict(
                    serving.batcher,
                    records,
                    System.nanoTime() + timeout.toNanos(),
                    new Caller(() -> leaves, Map.of(), RequestTrace.NONE));
            assertThat(poisoned || leaves).isFalse();
            assertThat(values).isEqualTo(upperCase(records));
            return Outcome.ANSWERED;
        } catch (ExecutionException e) {
            assertThat(e).hasRootCauseMessage("poison");
            assertThat(poisoned).isTrue();
            return Outcome.POISONED;
        } catch (ServingException e) {
            if (e.type() == ErrorType.OVERLOADED) {
                return Outcome.OVERLOADED;
            }
            if (e.type() == ErrorType.CALLER_GONE) {
                assertThat(leaves).isTrue();
                return Outcome.ABANDONED;
            }
            assertThat(e.type()).isEqualTo(ErrorType.DEADLINE_EXCEEDED);
            assertThat(hasty).isTrue();
            return Outcome.EXPIRED;
        }
    }

    private static List<String> upperCase(List<String> records) {
        return records.stream().map(record -> record.toUpperCase(Locale.ROOT)).toList();
    }
}
