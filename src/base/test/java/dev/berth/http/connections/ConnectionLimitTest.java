package dev.berth.http.connections;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalInt;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConnectionLimitTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
          8192 | 1048576 |      | 10000 | there are never more
          512  | 1048576 |      | 2048  | the heap has 512 MiB
          8192 | 1024    |      | 828   | ulimit -n is 1024
          8192 | 128     |      | 8     | ulimit -n is 128
          8192 | 1024    | 3    | 3     | max-connections is 3
          8192 | 1024    | 5000 | 828   | ulimit -n is 1024
          """)
    void theLeastCounts(long heapMib, long descriptors, Integer chosen, int most, String because) {
        var lower = chosen == null ? OptionalInt.empty() : OptionalInt.of(chosen);
        assertThat(ConnectionLimit.of(lower, heapMib << 20, descriptors, 100))
                .isEqualTo(new ConnectionLimit(most, because));
    }
}
