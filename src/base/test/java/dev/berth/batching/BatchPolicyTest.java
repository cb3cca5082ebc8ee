package dev.berth.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.batching.Submission.Pending;
import dev.berth.metrics.ServingMetrics;
import dev.berth.telemetry.RequestTrace;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BatchPolicyTest {

    private static final Duration DELAY = Duration.ofMillis(50);

    @ParameterizedTest
    @CsvSource({"0, 16", "1, 16", "16, 16", "17, 32", "32, 32", "33, 64", "1025, 2048", "2147483647, 2147483648"})
    void lengthsAreRoundedUpToAPowerOfTwo(int length, long roundedUp) {
        assertThat(1L << BatchPolicy.bucket(length)).isEqualTo(roundedUp);
        assertThat(BatchPolicy.bucket(length)).isLessThan(BatchPolicy.BUCKETS);
    }

    @Test
    void aBatchTakesRecordsUpToItsSize() {
        var policy = policy(3, 1_000_000);

        assertThat(policy.hasRoom(2, 10, 10)).isTrue();
        assertThat(policy.hasRoom(3, 10, 10)).isFalse();
    }

    @Test
    void aBatchTakesRecordsUpToItsPaddedCost() {
        var policy = policy(100, 100);

        assertThat(policy.hasRoom(4, 20, 20)).isTrue();
        assertThat(policy.hasRoom(5, 20, 1))
                .as("6 x 20, since all are padded to the longest")
                .isFalse();
        assertThat(policy.hasRoom(4, 20, 21)).as("5 x 21").isFalse();
    }

    @Test
    void aRecordLongerThanTheBudgetIsServedAlone() {
        var policy = policy(100, 100);

        assertThat(policy.hasRoom(0, 0, 5_000)).isTrue();
        assertThat(policy.hasRoom(1, 5_000, 1)).isFalse();
    }

    @Test
    void aHugeCostDoesNotOverflow() {
        assertThat(policy(Integer.MAX_VALUE, Integer.MAX_VALUE).hasRoom(3, Integer.MAX_VALUE, 1))
                .isFalse();
    }

    @Test
    void withoutADelayABatchGoesAtOnce() {
        var policy = new BatchPolicy(new BatchLimits(8, 1_000, Duration.ZERO, 10, Duration.ZERO));

        assertThat(policy.delayNanos(arrivedAt(0, 10), 0)).isZero();
    }

    @Test
    void aBatchThatIsNotFullWaitsUntilItsOldestRecordHasWaitedForTheDelay() {
        var policy = policy(8, 1_000);
        var waiting = arrivedAt(Duration.ofMillis(100).toNanos(), 10, 10);

        assertThat(policy.delayNanos(waiting, Duration.ofMillis(100).toNanos())).isEqualTo(DELAY.toNanos());
        assertThat(policy.delayNanos(waiting, Duration.ofMillis(130).toNanos()))
                .isEqualTo(Duration.ofMillis(20).toNanos());
        assertThat(policy.delayNanos(waiting, Duration.ofMillis(150).toNanos())).isZero();
        assertThat(policy.delayNanos(waiting, Duration.ofMillis(900).toNanos())).isNegative();
    }

    @Test
    void aBatchThatIsFullGoesAtOnce() {
        assertThat(policy(2, 1_000).delayNanos(arrivedAt(0, 10, 10), 0))
                .as("by size")
                .isZero();
        assertThat(policy(8, 100).delayNanos(arrivedAt(0, 40, 40), 0))
                .as("by cost: a third makes 120")
                .isZero();
        assertThat(policy(8, 100).delayNanos(arrivedAt(0, 500), 0))
                .as("a record over the budget")
                .isZero();
        assertThat(policy(8, 100).delayNanos(arrivedAt(0, 40, 60), 0))
                .as("the second does not fit: 120")
                .isZero();
    }

    @Test
    void limitsSayWhichIsWrong() {
        assertThatThrownBy(() -> new BatchLimits(0, 1, DELAY, 1, Duration.ZERO))
                .hasMessage("maxBatchSize: found 0, expected at least 1");
        assertThatThrownBy(() -> new BatchLimits(1, 0, DELAY, 1, Duration.ZERO))
                .hasMessage("maxBatchTokens: found 0, expected at least 1");
        assertThatThrownBy(() -> new BatchLimits(1, 1, DELAY, 0, Duration.ZERO))
                .hasMessage("queueCapacity: found 0, expected at least 1");
        assertThatThrownBy(() -> new BatchLimits(1, 1, DELAY.negated(), 1, Duration.ZERO))
                .hasMessage("maxBatchDelay: found PT-0.05S, expected zero or more");
    }

    private static BatchPolicy policy(int size, int tokens) {
        return new BatchPolicy(new BatchLimits(size, tokens, DELAY, 10, Duration.ZERO));
    }

    /// Records of these lengths, of one request that came at `nanos`.
    private static List<Pending<Integer, String>> arrivedAt(long nanos, Integer... lengths) {
        try (var metrics = new ServingMetrics();
                var pool = new WorkerPool(1, () -> {}, metrics)) {
            var batcher = new Batcher<Integer, String>(
                    "words",
                    "the model",
                    pool,
                    new BatchLimits(8, 1_000, Duration.ZERO, 10, Duration.ZERO),
                    null,
                    () -> nanos,
                    metrics.ofModel("words"));
            return new Submission<>(
                            batcher.queue,
                            Serving.whole(
                                    Arrays.asList(lengths),
                                    Arrays.stream(lengths)
                                            .mapToInt(length -> length)
                                            .toArray()),
                            new PartSink.None<>(Long.MAX_VALUE),
                            new Caller(() -> false, Map.of(), RequestTrace.NONE),
                            _ -> {})
                    .pending;
        }
    }
}
