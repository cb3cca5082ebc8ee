package dev.berth.serving.hooks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.berth.error.ServingException;
import dev.berth.metrics.ServingMetrics;
import dev.berth.testing.Gate;
import dev.berth.testing.TestThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// Deadlines and threads of hooks, with a clock that only the test moves.
class HookPoolTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);

    private final AtomicLong now = new AtomicLong();
    private final ServingMetrics metrics = new ServingMetrics();
    private final HookPool pool = new HookPool(1, 2, 1, false, metrics);
    private final InFlight inside = new InFlight();
    private final HookScope scope = scope("words", inside);
    private final CountDownLatch end = new CountDownLatch(1);
    private final ExecutorService requests = new TestThreads();

    @AfterEach
    void close() {
        end.countDown();
        requests.close();
        pool.close();
        metrics.close();
    }

    @Test
    void aHookRunsOnAThreadOfThePoolWithTheContextOfItsRequest() throws Exception {
        String thread = call(MINUTE, _ -> Thread.currentThread().getName());
        assertThat(thread).startsWith("berth-hook-");
        assertThatThrownBy(() -> call(MINUTE, _ -> {
                    throw new IllegalStateException("boom");
                }))
                .isInstanceOf(ExecutionException.class)
                .hasRootCauseMessage("boom");
    }

    @Test
    void aRequestWhoseTimeIsOverRunsNoHook() throws Exception {
        var ran = new ArrayList<String>();
        var deadline = Deadline.in(Duration.ofSeconds(1), now::get);
        now.addAndGet(Duration.ofSeconds(2).toNanos());

        assertThatThrownBy(() -> call("outputFn", deadline, _ -> ran.add("late")))
                .hasMessage("it waited for outputFn to run");
        assertThat(inside.awaitNone(MINUTE)).isTrue();
        assertThat(ran).isEmpty();
    }

    @Test
    @Tag("slow")
    void aHookThatDoesNotEndInTimeIsNamed() {
        assertThatThrownBy(() -> call(Duration.ofSeconds(2), run -> {
                    run.enters("length");
                    end.await();
                    return "late";
                }))
                .hasMessage("length ran");
    }

    @Test
    void aHookThatNeverRanIsNotToBlame() throws Exception {
        var gate = new Gate(2);
        wedge(gate);
        wedge(gate);
        gate.awaitArrival();

        assertThatThrownBy(() -> call(Duration.ofMillis(10), _ -> "never")).hasMessage("it waited for inputFn to run");
        gate.open();
    }

    @Test
    void aStuckThreadIsReplacedUntilTooManyAreStuck() throws Exception {
        for (int wedged = 1; wedged <= 3; wedged++) {
            var gate = new Gate(1);
            wedge(gate);
            gate.awaitArrival();
            gate.open();
            now.addAndGet(MINUTE.plusSeconds(30).toNanos());
            assertThat(pool.findStuck(Duration.ofSeconds(31))).isEmpty();
            now.addAndGet(Duration.ofSeconds(1).toNanos());
            assertThat(pool.findStuck(Duration.ofSeconds(31))).hasSize(1);
            assertThat(pool.findStuck(Duration.ofSeconds(31))).isEmpty();
            assertThat(pool.problem().isEmpty()).isEqualTo(wedged < 3);
            if (wedged < 3) {
                String answer = call(MINUTE, _ -> "still here");
                assertThat(answer).isEqualTo("still here");
            }
        }
        assertThat(metrics.scrape()).contains("berth_stuck_hooks{model=\"words\"} 3.0");

        end.countDown();
        await().until(() -> pool.problem().isEmpty());
        await().until(() -> metrics.scrape().contains("berth_stuck_hooks{model=\"words\"} 0.0"));
        String answer = call(MINUTE, _ -> "again");
        assertThat(answer).isEqualTo("again");
    }

    @Test
    void hooksOfLargeRequestsLeaveAThreadToSmallOnes() throws Exception {
        var gate = new Gate(1);
        var first = large(gate);
        gate.awaitArrival();
        var second = new Gate(1);
        var next = large(second);
        var small = requests.submit(() -> call(MINUTE, _ -> "small"));
        assertThat(small.get()).isEqualTo("small");
        assertThat(next.isDone()).isFalse();

        gate.open();
        second.awaitArrival();
        second.open();
        assertThat(first.get()).isEqualTo("large");
        assertThat(next.get()).isEqualTo("large");
    }

    @Test
    void aLargeHookThatWaitsLetsTheNextOneRun() throws Exception {
        var gate = new Gate(1);
        var first = requests.submit(() -> call("inputFn", Deadline.in(MINUTE, now::get), true, _ -> {
            HookPool.mayBlock();
            gate.pass();
            return "waited";
        }));
        gate.awaitArrival();
        var second = new Gate(1);
        var next = large(second);
        second.awaitArrival();
        second.open();
        assertThat(next.get()).isEqualTo("large");
        gate.open();
        assertThat(first.get()).isEqualTo("waited");
    }

    private Future<String> large(Gate gate) {
        return requests.submit(() -> call("inputFn", Deadline.in(MINUTE, now::get), true, _ -> {
            gate.pass();
            return "large";
        }));
    }

    @Test
    void whoeverWaitsForTheHooksOfAModelWaitsForThoseLeftBehind() throws Exception {
        assertThatThrownBy(() -> call(Duration.ofMillis(10), _ -> {
                    while (end.getCount() > 0) {
                        Thread.onSpinWait();
                    }
                    return "late";
                }))
                .hasMessageContaining("inputFn");
        assertThat(inside.awaitNone(Duration.ZERO)).isFalse();

        end.countDown();
        assertThat(inside.awaitNone(MINUTE)).isTrue();
    }

    @Test
    void oneModelLeavesHalfOfTheFreeThreadsToEachOther() throws Exception {
        try (var shared = new HookPool(1, 8, 1, true, metrics)) {
            var gates = Stream.generate(() -> new Gate(1)).limit(4).toList();
            var wedged = scope("wedged", inside);
            gates.forEach(gate -> wedge(shared, wedged, gate));
            for (var gate : gates) {
                gate.awaitArrival();
            }
            var waiting = requests.submit(
                    () -> call(shared, wedged, "inputFn", Deadline.in(MINUTE, now::get), false, _ -> "later"));

            // Of the four that are left the next model has two, and the one after it one and its least
            // share.
            for (var model : List.of("second", "third", "fourth", "fifth")) {
                var both = List.of(new Gate(1), new Gate(1));
                var scope = scope(model, inside);
                both.forEach(gate -> wedge(shared, scope, gate));
                for (var gate : both) {
                    gate.awaitArrival();
                    gate.open();
                }
            }
            assertThat(waiting.isDone()).isFalse();
            gates.forEach(Gate::open);
            end.countDown();
            assertThat(waiting.get()).isEqualTo("later");
        }
    }

    @Test
    void aModelWithTooManyStuckHooksIsRejectedUntilOneEnds() throws Exception {
        try (var shared = new HookPool(1, 8, 2, true, metrics)) {
            var wedged = scope("wedged", inside);
            var gates = List.of(new Gate(1), new Gate(1));
            for (var gate : gates) {
                wedge(shared, wedged, gate);
                gate.awaitArrival();
                gate.open();
            }
            assertThat(shared.problem(wedged)).isEmpty();
            now.addAndGet(MINUTE.multipliedBy(2).toNanos());
            assertThat(shared.findStuck(Duration.ofSeconds(1)))
                    .extracting(HookRun::model)
                    .containsExactly("wedged", "wedged");

            assertThat(shared.problem(wedged))
                    .hasValue("2 hooks of wedged do not end; it serves again when fewer than 2 are left");
            assertThatThrownBy(
                            () -> call(shared, wedged, "outputFn", Deadline.in(MINUTE, now::get), false, _ -> "never"))
                    .isInstanceOf(ServingException.class)
                    .hasMessageStartingWith("2 hooks of wedged do not end");
            var fine = scope("fine", inside);
            String answer = call(shared, fine, "inputFn", Deadline.in(MINUTE, now::get), false, _ -> "fine");
            assertThat(answer).isEqualTo("fine");
            assertThat(shared.problem()).isEmpty();

            end.countDown();
            await().until(() -> shared.problem(wedged).isEmpty());
            String again = call(shared, wedged, "inputFn", Deadline.in(MINUTE, now::get), false, _ -> "again");
            assertThat(again).isEqualTo("again");
        }
    }

    @Test
    void aHookWhoseTimeIsOverLeavesTheLineOfItsModel() throws Exception {
        try (var shared = new HookPool(1, 4, 1, true, metrics)) {
            var wedged = scope("wedged", inside);
            var gates = List.of(new Gate(1), new Gate(1));
            for (var gate : gates) {
                wedge(shared, wedged, gate);
                gate.awaitArrival();
            }
            assertThatThrownBy(() -> call(
                            shared,
                            wedged,
                            "inputFn",
                            Deadline.in(Duration.ofMillis(20), now::get),
                            false,
                            _ -> "late"))
                    .hasMessage("it waited for inputFn to run");
            var next = requests.submit(
                    () -> call(shared, wedged, "inputFn", Deadline.in(MINUTE, now::get), false, _ -> "next"));
            gates.forEach(Gate::open);
            end.countDown();
            assertThat(next.get()).isEqualTo("next");
        }
    }

    @Test
    void hooksThatWaitGoOnWhenTheThreadsAreReplaced() throws Exception {
        try (var shared = new HookPool(1, 1, 1, false, metrics)) {
            var gate = new Gate(1);
            wedge(shared, scope, gate);
            gate.awaitArrival();
            // No thread is left for it, and there may be no more.
            var ran = new CountDownLatch(1);
            shared.start(scope, "inputFn", Map.of(), Deadline.in(MINUTE, now::get), false, _ -> ran.countDown());
            shared.renew();
            assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
            gate.open();
            end.countDown();
        }
    }

    @Test
    void aHookThatNobodyAsksForHasAThreadSoon() throws Exception {
        var gate = new Gate(1);
        wedge(gate);
        gate.awaitArrival();
        // As a worker starts outputFn while the thread of the request sleeps.
        var ran = new CountDownLatch(1);
        pool.start(scope, "outputFn", Map.of(), Deadline.in(MINUTE, now::get), false, _ -> ran.countDown());
        assertThat(ran.await(30, TimeUnit.SECONDS)).isTrue();
        gate.open();
    }

    private HookScope scope(String model, InFlight inside) {
        return new HookScope(getClass().getClassLoader(), inside, metrics.ofModel(model));
    }

    /// Occupies a thread, whoever interrupts, from the gate on until the test ends.
    private void wedge(Gate gate) {
        wedge(pool, scope, gate);
    }

    private void wedge(HookPool pool, HookScope scope, Gate gate) {
        var _ = requests.submit(() -> call(pool, scope, "inputFn", Deadline.in(MINUTE, now::get), false, _ -> {
            try {
                gate.pass();
            } catch (InterruptedException _) {
                // Its caller may have given it up already.
            }
            while (end.getCount() > 0) {
                Thread.onSpinWait();
            }
            return List.of();
        }));
    }

    private <T> T call(Duration time, Hook<T> hook) throws InterruptedException, ExecutionException {
        return call("inputFn", Deadline.in(time, now::get), hook);
    }

    private <T> T call(String name, Deadline deadline, Hook<T> hook) throws InterruptedException, ExecutionException {
        return call(name, deadline, false, hook);
    }

    /// As a request's thread waits for a hook.
    private <T> T call(String name, Deadline deadline, boolean large, Hook<T> hook)
            throws InterruptedException, ExecutionException {
        return call(pool, scope, name, deadline, large, hook);
    }

    private static <T> T call(
            HookPool pool, HookScope scope, String name, Deadline deadline, boolean large, Hook<T> hook)
            throws InterruptedException, ExecutionException {
        var result = new CompletableFuture<T>();
        var run = pool.start(scope, name, Map.of(), deadline, large, now -> {
            try {
                result.complete(hook.run(now));
            } catch (Throwable e) {
                result.completeExceptionally(e);
            }
        });
        try {
            return result.get(deadline.nanosLeft(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new IllegalStateException(run.cancel());
        }
    }

    private interface Hook<T> {
        T run(HookRun now) throws Exception;
    }
}
