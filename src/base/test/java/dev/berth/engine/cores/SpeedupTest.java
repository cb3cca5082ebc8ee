package dev.berth.engine.cores;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SpeedupTest {

    private static final int ELEMENTS = 100;

    private final Speedup speedup = new Speedup();

    @Test
    void moreCoresAreTriedFirst() {
        assertThat(speedup.isWorthwhile()).isTrue();
    }

    /// How long a forward takes on one core, on several before, and on several now.
    @ParameterizedTest
    @CsvSource({
        // Where they are quicker, one core is tried rarely.
        "0, 10, 100, 10, 0.96, 0.98",
        "100, 10, 1000, 10, 0.99, 0.995",
        // A little quicker is enough.
        "0, 10, 1000, 18, 0.95, 1",
        "1000, 18, 1000, 22, 0, 0.2",
        // Where they are slower, they are tried more and more rarely.
        "0, 10, 8000, 30, 0.06, 0.075",
        "4000, 30, 1000, 30, 0, 0.075",
        // Where they are much slower, one forward tells.
        "0, 10, 8000, 200, 0, 0.0125",
        // A busy neighbour is noticed within a few forwards.
        "1000, 10, 300, 200, 0, 0.1"
    })
    void theQuickerWayIsTaken(int before, int severalBefore, int now, int severalNow, double least, double most) {
        forwards(before, 20, severalBefore);
        assertThat(share(forwards(now, 20, severalNow))).isBetween(least, most);
    }

    /// It computes and sleeps in turn, so half of the forwards on two cores are as quick as ever.
    @Test
    void aNeighbourThatPausesIsNoticedToo() {
        forwards(1000, 20, 10);
        int several = 0;
        for (int i = 0; i < 1000; i++) {
            boolean more = speedup.isWorthwhile();
            several += more ? 1 : 0;
            speedup.record(more ? 2 : 1, ELEMENTS, more ? List.of(10, 34).get(i % 2) : 20);
        }

        assertThat(several).isLessThan(150);
    }

    @Test
    void theFirstForwardsAreSlow() {
        IntStream.range(0, 3).forEach(_ -> speedup.record(2, ELEMENTS, 5000));

        assertThat(share(forwards(1000, 20, 10))).isBetween(0.95, 0.999);
    }

    @Test
    void underLoadEveryForwardHasOneCoreAndTheNextThatIsAloneMore() {
        IntStream.range(0, 10_000).forEach(_ -> speedup.record(1, ELEMENTS, 20));

        assertThat(share(forwards(1000, 20, 10))).isBetween(0.95, 0.999);
    }

    /// A forward of the sample takes some 10 ms, so a client should have all cores again within 2 s.
    @ParameterizedTest
    @CsvSource({"100, 30", "1000, 30", "3000, 30", "100, 200", "1000, 200", "3000, 200"})
    void aTrialIsEnoughWhenTheMachineIsQuietAgain(int busy, int severalWhileBusy) {
        forwards(100, 20, 10);
        forwards(busy, 20, severalWhileBusy);

        forwards(150, 20, 10);
        assertThat(share(forwards(1000, 20, 10))).isBetween(0.95, 0.999);
    }

    @Test
    void timesAreOfAnElement() {
        forwards(100, 20, 10);
        IntStream.range(0, 30).forEach(_ -> speedup.record(2, 100 * ELEMENTS, 100 * 10));

        assertThat(share(forwards(1000, 20, 10))).isBetween(0.95, 0.999);
    }

    /// So many forwards, and which of them had more than one core.
    private List<Boolean> forwards(int count, int withOneCore, int withMore) {
        return IntStream.range(0, count)
                .mapToObj(_ -> {
                    boolean more = speedup.isWorthwhile();
                    speedup.record(more ? 2 : 1, ELEMENTS, more ? withMore : withOneCore);
                    return more;
                })
                .toList();
    }

    private static double share(List<Boolean> choices) {
        return (double) Collections.frequency(choices, true) / choices.size();
    }
}
