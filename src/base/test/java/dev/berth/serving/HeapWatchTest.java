package dev.berth.serving;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.berth.metrics.ServingMetrics;
import dev.berth.testing.CapturedLog;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HeapWatchTest {

    @AutoClose
    private final ServingMetrics metrics = new ServingMetrics();

    private final AtomicLong now = new AtomicLong();
    private final AtomicLong collected = new AtomicLong();
    private final HeapWatch watch = new HeapWatch(metrics, now::get, collected::get);

    @Test
    void collectionsThatTakeMostOfTheTimeAreAProblemUntilTheyEnd() {
        try (var log = new CapturedLog(HeapWatch.class)) {
            pass(10, 100);
            assertThat(watch.problem()).isEmpty();

            // One long collection is not ten seconds of them.
            pass(1, 1000);
            pass(10, 400);
            assertThat(watch.problem()).isEmpty();

            pass(10, 700);
            assertThat(watch.problem()).contains("the JVM spends most of its time on collecting garbage");
            pass(10, 300);
            assertThat(watch.problem()).as("not less than a quarter").isPresent();
            pass(10, 100);
            assertThat(watch.problem()).isEmpty();
            assertThat(log.events()).extracting(ILoggingEvent::getLevel).containsExactly(Level.ERROR, Level.WARN);
            assertThat(log.events().getFirst().getFormattedMessage())
                    .matches("collecting garbage has taken 67 % of the last 10 s.*503.*");
        }
    }

    @Test
    void looksThatComeOftenJudgeTenSecondsToo() {
        for (int i = 0; i < 40; i++) {
            now.addAndGet(Duration.ofMillis(100).toNanos());
            collected.addAndGet(90);
            watch.look();
        }
        assertThat(watch.problem()).as("after 4 s").isEmpty();
        pass(8, 900);
        assertThat(watch.problem()).isPresent();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Java heap space",
                "GC overhead limit exceeded",
                "Metaspace",
                "Compressed class space",
                "unable to create native thread: possibly out of memory or process/resource limits reached"
            })
    void anOutOfMemoryErrorOfTheJvmIsAProblemForGood(String message) {
        try (var log = new CapturedLog(HeapWatch.class)) {
            metrics.caught(new OutOfMemoryError(message));
            metrics.caught(new OutOfMemoryError("Metaspace"));
            pass(30, 0);
            assertThat(watch.problem()).contains("the JVM ran out of memory: " + message);
            assertThat(log.events())
                    .singleElement()
                    .extracting(ILoggingEvent::getFormattedMessage)
                    .isEqualTo(
                            "the JVM ran out of memory: " + message + "; /ping is 503 until the process is replaced");
            assertThat(metrics.scrape().lines()).contains("berth_out_of_memory_total 2.0");
        }
    }

    @Test
    void whatHooksMakeThemselvesAndArraysBeyondTheLimitAreNone() {
        metrics.caught(new OutOfMemoryError());
        metrics.caught(new OutOfMemoryError("heap"));
        metrics.caught(new OutOfMemoryError("Requested array size exceeds VM limit"));
        metrics.caught(new IllegalStateException("Java heap space"));
        pass(2, 0);
        assertThat(watch.problem()).isEmpty();
    }

    private void pass(int seconds, int millisOfEach) {
        for (int i = 0; i < seconds; i++) {
            now.addAndGet(Duration.ofSeconds(1).toNanos());
            collected.addAndGet(millisOfEach);
            watch.look();
        }
    }
}
