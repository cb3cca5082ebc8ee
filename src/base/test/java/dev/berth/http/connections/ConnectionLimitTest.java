package dev.berth.http.connections;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

class ConnectionLimitTest {

    private static final long GIB = 1L << 30;

    @Test
    void aLargeMachineHasTheMost() {
        assertThat(limit(8 * GIB, 1_048_576, 100)).isEqualTo(new ConnectionLimit(10_000, "there are never more"));
    }

    @Test
    void theHeapLimitsIt() {
        assertThat(limit(GIB / 2, 1_048_576, 100)).isEqualTo(new ConnectionLimit(2048, "the heap has 512 MiB"));
    }

    @Test
    void descriptorsLimitItAndLeaveSomeForOthers() {
        assertThat(limit(8 * GIB, 1024, 100)).isEqualTo(new ConnectionLimit(828, "ulimit -n is 1024"));
    }

    @Test
    void thereAreAFewWhateverIsLeft() {
        assertThat(limit(8 * GIB, 128, 100).most()).isEqualTo(8);
    }

    @Test
    void itCanBeLoweredAndNotRaised() {
        assertThat(ConnectionLimit.of(OptionalInt.of(3), 8 * GIB, 1024, 100))
                .isEqualTo(new ConnectionLimit(3, "max-connections is 3"));
        assertThat(ConnectionLimit.of(OptionalInt.of(5000), 8 * GIB, 1024, 100).most())
                .isEqualTo(828);
    }

    @Test
    void thisJvmHasSome() {
        assertThat(ConnectionLimit.ofThisJvm(OptionalInt.empty()).most()).isPositive();
    }

    private static ConnectionLimit limit(long heap, long descriptors, long open) {
        return ConnectionLimit.of(OptionalInt.empty(), heap, descriptors, open);
    }
}
