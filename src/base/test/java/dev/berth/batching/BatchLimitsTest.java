package dev.berth.batching;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BatchLimitsTest {

    private static final Duration DELAY = Duration.ofMillis(50);

    @ParameterizedTest
    @CsvSource({"0, 16", "1, 16", "16, 16", "17, 32", "32, 32", "33, 64", "1025, 2048", "2147483647, 2147483648"})
    void lengthsAreRoundedUpToAPowerOfTwo(int length, long roundedUp) {
        int bucket = Piece.bucket(length);
        assertThat(1L << bucket).isEqualTo(roundedUp);
        assertThat(bucket).isLessThan(Integer.SIZE);
    }

    @Test
    void aBatchTakesRecordsUpToItsSize() {
        var limits = limits(3, 1_000_000);

        assertThat(limits.hasRoom(2, 10, 10)).isTrue();
        assertThat(limits.hasRoom(3, 10, 10)).isFalse();
    }

    @Test
    void aBatchTakesRecordsUpToItsPaddedCost() {
        var limits = limits(100, 100);

        assertThat(limits.hasRoom(4, 20, 20)).isTrue();
        assertThat(limits.hasRoom(5, 20, 1))
                .as("6 x 20, since all are padded to the longest")
                .isFalse();
        assertThat(limits.hasRoom(4, 20, 21)).as("5 x 21").isFalse();
    }

    @Test
    void aRecordLongerThanTheBudgetIsServedAlone() {
        var limits = limits(100, 100);

        assertThat(limits.hasRoom(0, 0, 5_000)).isTrue();
        assertThat(limits.hasRoom(1, 5_000, 1)).isFalse();
    }

    @Test
    void aHugeCostDoesNotOverflow() {
        assertThat(limits(Integer.MAX_VALUE, Integer.MAX_VALUE).hasRoom(3, Integer.MAX_VALUE, 1))
                .isFalse();
    }

    private static BatchLimits limits(int size, int tokens) {
        return new BatchLimits(size, tokens, DELAY, 10, Duration.ZERO);
    }
}
