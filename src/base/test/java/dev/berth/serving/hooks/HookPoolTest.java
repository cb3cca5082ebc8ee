package dev.berth.serving.hooks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.Metrics;
import dev.berth.metrics.ServingMetrics;
import dev.berth.testing.TextHandler;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// How many hooks may wait. A server of a small heap has no memory for so many requests.
@Timeout(60)
class HookPoolTest {

    private static final int MOST = 32;

    @Test
    void whereTooManyWaitTheNextOneIsRefusedAtOnceUntilOneIsGivenUp() throws Exception {
        var end = new CountDownLatch(1);
        var begun = new AtomicInteger();
        var waiting = new ArrayDeque<HookPool.Run<?>>();
        var deadline = Deadline.in(Duration.ofHours(1), System::nanoTime);
        try (var metrics = new ServingMetrics();
                var pool = new HookPool(
                        new Hooks<>(new TextHandler(), Metrics.current()),
                        HookThreads.ofOneModel(),
                        metrics.ofModel("words"))) {
            for (int i = 0; i < MOST + 2000; i++) {
                // Until all threads are there, it may be full before.
                await().ignoreExceptionsInstanceOf(ServingException.class)
                        .until(() -> waiting.add(pool.start("inputFn", deadline, Map.of(), () -> {
                            begun.incrementAndGet();
                            end.await();
                            return begun;
                        })));
            }
            await().until(() -> begun.get() == MOST);

            assertThatThrownBy(() -> pool.start("inputFn", deadline, Map.of(), () -> begun))
                    .isInstanceOfSatisfying(
                            ServingException.class, e -> assertThat(e.type()).isEqualTo(ErrorType.OVERLOADED))
                    .hasMessage("2000 requests wait for inputFn already; try again later");
            assertThat(metrics.scrape()).contains("berth_overloaded_total{model=\"words\"}");
            assertThat(waiting.getLast().cancel())
                    .hasMessage("the request's time ran out while it waited for inputFn to run");
            var next = new CountDownLatch(1);
            pool.start("inputFn", deadline, Map.of(), () -> {
                next.countDown();
                return next;
            });
            end.countDown();
            next.await();
            assertThat(pool.inside.awaitNone(Duration.ofMinutes(1))).isTrue();
            assertThat(begun).hasValue(MOST + 2000 - 1);
        }
    }
}
