package dev.berth.serving.hooks;

import static dev.berth.testing.Interleavings.explore;
import static dev.berth.testing.Interleavings.together;
import static dev.berth.testing.Interleavings.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.metrics.ModelMetrics;
import dev.berth.metrics.ServingMetrics;
import dev.berth.testing.Interleavings;
import dev.berth.testing.TextHandler;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// Hooks that come, wait, are given up, get stuck and end, while others leave their place.
class HookPoolSchedules {

    private static final Duration LONG = Duration.ofHours(1);
    private static final ServingMetrics METRICS = new ServingMetrics();

    @Test
    void eachHookRunsOnceAlsoWhereOthersLeaveTheirPlace() throws Exception {
        explore(() -> {
            try (var hooks = new Pool()) {
                var first = new AtomicInteger();
                var second = new AtomicInteger();
                var cancelled = new AtomicInteger();
                var secondRan = new CountDownLatch(1);
                together(
                        () -> hooks.run(false, () -> {
                            HookPool.leavePlace();
                            awaitAlways(secondRan);
                            first.incrementAndGet();
                        }),
                        () -> hooks.run(true, second::incrementAndGet),
                        () -> hooks.run(true, secondRan::countDown),
                        () -> hooks.start(LONG, true, cancelled::incrementAndGet)
                                .cancel());
                hooks.assertNothingIsLeft();
                assertThat(first).hasValue(1);
                assertThat(second).hasValue(1);
                assertThat(cancelled.get()).isLessThan(2);
            }
        });
    }

    @Test
    void aHookThatIsStuckAndEndsLeavesNothingBehind() throws Exception {
        explore(() -> {
            try (var hooks = new Pool()) {
                var begun = new CountDownLatch(1);
                var end = new CountDownLatch(1);
                var time = Duration.ofMillis(100);
                var stuck = hooks.start(time, false, () -> {
                    begun.countDown();
                    awaitAlways(end);
                });
                begun.await();
                Thread.sleep(time);
                var ran = new AtomicInteger();
                together(
                        stuck::cancel,
                        () -> hooks.start(Duration.ofMillis(2), true, () -> {}).cancel(),
                        () -> hooks.pool.findStuck(Duration.ZERO),
                        () -> hooks.pool.findStuck(Duration.ZERO),
                        () -> hooks.run(false, ran::incrementAndGet),
                        () -> hooks.run(true, ran::incrementAndGet),
                        end::countDown);
                assertThat(ran).hasValue(2);
                hooks.assertNothingIsLeft();
            }
        });
    }

    /// As native code does, which nothing interrupts.
    private static void awaitAlways(CountDownLatch end) {
        while (end.getCount() > 0) {
            try {
                end.await();
            } catch (InterruptedException _) {
                // As said above.
            }
        }
    }

    /// The pool of a model.
    private static final class Pool implements AutoCloseable {
        private final ModelMetrics metrics = METRICS.ofModel("words");
        final HookPool pool =
                new HookPool(new Hooks<>(new TextHandler(), metrics.ofHooks), HookThreads.ofOneModel(), metrics);

        HookPool.Run<?> start(Duration time, boolean large, Runnable hook) {
            return pool.start("inputFn", Deadline.in(time, Interleavings::now), Map.of(), large, _ -> {
                hook.run();
                return hook;
            });
        }

        /// Returns when the hook has run.
        void run(boolean large, Runnable hook) throws InterruptedException {
            var ran = new CountDownLatch(1);
            start(LONG, large, () -> {
                hook.run();
                ran.countDown();
            });
            ran.await();
        }

        void assertNothingIsLeft() throws InterruptedException {
            assertThat(pool.inside.awaitNone(LONG)).isTrue();
            until(() -> metrics.stuckHooks.get() == 0);
            run(false, () -> {});
        }

        @Override
        public void close() {
            pool.close();
        }
    }
}
