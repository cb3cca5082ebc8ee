package dev.berth.http.connections;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The pace on a clock of the test's own, and a real server whose callers come again at once.
class PaceTest {

    private static final long WORK = TimeUnit.MILLISECONDS.toNanos(10);

    private final AtomicLong now = new AtomicLong(-5);
    private final Pace pace = new Pace(2, TimeUnit.SECONDS.toNanos(1), now::get);

    @Test
    void whatIsMoreThanTheServerCanSpareIsHeldUntilItsTurnButNotLongerThanRetryAfterSays() {
        for (int i = 0; i < 1000; i++) {
            now.addAndGet(TimeUnit.MILLISECONDS.toNanos(5));
            assertThat(pace.pauseNanos(WORK)).isLessThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(5));
        }
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        // After a pause some may come together.
        var pauses = LongStream.range(0, 1020).map(_ -> pace.pauseNanos(WORK)).toArray();
        assertThat(pauses).isSorted().startsWith(new long[20]);
        assertThat(pauses[99] - pauses[98]).isEqualTo(TimeUnit.MILLISECONDS.toNanos(5));
        assertThat(pauses[1019]).isEqualTo(TimeUnit.SECONDS.toNanos(1));
        now.addAndGet(TimeUnit.SECONDS.toNanos(2));
        assertThat(pace.pauseNanos(WORK)).isZero();
    }

    @Test
    void whatIsNotHeldIsDoneAsOftenAsItMay() {
        var unheld = new Pace(2, WORK, now::get);
        now.addAndGet(TimeUnit.SECONDS.toNanos(1));
        assertThat(LongStream.range(0, 1000).filter(_ -> unheld.isTurn(WORK))).hasSize(22);
        for (int i = 0; i < 10; i++) {
            now.addAndGet(WORK / 2);
            assertThat(unheld.isTurn(WORK)).isTrue();
            assertThat(unheld.isTurn(WORK)).isFalse();
        }
    }

    @Test
    @Tag("INV-13")
    void whoeverComesAgainAtOnceIsAnsweredEachTime() throws Exception {
        var loading = new CountDownLatch(1);
        try (var server = TestServer.with(TextHandler.before("modelFn", _ -> loading.await()))
                .startWithoutWaiting()) {
            for (int i = 0; i < 100; i++) {
                var response = server.invoke("a");
                assertThat(response.statusCode()).isEqualTo(503);
                assertThat(response.headers().firstValue("Retry-After")).hasValue("1");
                assertThat(response.body()).contains("not_ready");
            }
            loading.countDown();
        }
    }
}
