package dev.berth.http.connections;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ConnectionLimitTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
          8192 | 1048576 |      | 10000
          512  | 1048576 |      | 2048
          8192 | 1024    |      | 828
          8192 | 128     |      | 8
          8192 | 1024    | 3    | 3
          8192 | 1024    | 5000 | 828
          """)
    void theLeastCounts(long heapMib, long descriptors, Integer chosen, int most) {
        assertThat(ConnectionLimit.of(Optional.ofNullable(chosen), heapMib << 20, descriptors - 100))
                .isEqualTo(most);
    }
}
