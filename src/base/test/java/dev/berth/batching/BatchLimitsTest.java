package dev.berth.batching;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BatchLimitsTest {

    @ParameterizedTest
    @CsvSource({"0, 16", "1, 16", "16, 16", "17, 32", "32, 32", "33, 64", "1025, 2048", "2147483647, 2147483648"})
    void lengthsAreRoundedUpToAPowerOfTwo(int length, long roundedUp) {
        int bucket = Piece.bucket(length);
        assertThat(1L << bucket).isEqualTo(roundedUp);
        assertThat(bucket).isLessThan(Integer.SIZE);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
      up to its size                    | 3          | 1000000    | 2 | 10         | 10   | true
      not beyond its size               | 3          | 1000000    | 3 | 10         | 10   | false
      up to its padded cost             | 100        | 100        | 4 | 20         | 20   | true
      all are padded to the longest     | 100        | 100        | 5 | 20         | 1    | false
      also to the new one               | 100        | 100        | 4 | 20         | 21   | false
      one beyond the cost, by itself    | 100        | 100        | 0 | 0          | 5000 | true
      none beside that one              | 100        | 100        | 1 | 5000       | 1    | false
      a huge cost does not overflow     | 2147483647 | 2147483647 | 3 | 2147483647 | 1    | false
      """)
    void aBatchTakesRecords(String how, int most, int tokens, int size, int longest, int length, boolean hasRoom) {
        var limits = new BatchLimits(most, tokens, Duration.ZERO, 10, Duration.ZERO);
        assertThat(limits.hasRoom(size, longest, 1, length)).isEqualTo(hasRoom);
    }
}
