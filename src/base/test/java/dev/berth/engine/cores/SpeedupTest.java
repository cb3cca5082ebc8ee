package dev.berth.engine.cores;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SpeedupTest {

    private static final int ELEMENTS = 100;

    private final Speedup speedup = new Speedup();

    @Test
    void moreCoresAreTriedFirst() {
        assertThat(speedup.isWorthwhile()).isTrue();
    }

    @Test
    void moreCoresAreWorthwhileWhereTheyAreFasterAndOneIsTriedRarely() {
        assertThat(count(forwards(100, 20, 10))).isBetween(96, 98);
        assertThat(count(forwards(1000, 20, 10))).isBetween(995, 999);
    }

    @Test
    void moreCoresAreTriedMoreAndMoreRarelyWhereTheyAreSlower() {
        var choices = forwards(8000, 20, 200);

        assertThat(count(choices)).isBetween(100, 200);
        assertThat(count(choices.subList(0, 1024))).isGreaterThan(count(choices.subList(4000, 5024)));
    }

    @Test
    void aLittleQuickerIsEnough() {
        assertThat(share(forwards(1000, 20, 18))).isGreaterThan(0.95);
        assertThat(share(forwards(1000, 20, 22))).isLessThan(0.2);
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

    @Test
    void aTrialIsEnoughWhenTheMachineIsQuietAgain() {
        forwards(3000, 20, 200);

        assertThat(share(forwards(3000, 20, 10).subList(2000, 3000))).isBetween(0.95, 0.999);
    }

    @Test
    void aBusyNeighbourIsNoticedWithinAFewForwards() {
        forwards(1000, 20, 10);

        assertThat(count(forwards(300, 20, 200))).isLessThan(30);
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

    private static int count(List<Boolean> choices) {
        return (int) choices.stream().filter(more -> more).count();
    }

    private static double share(List<Boolean> choices) {
        return (double) count(choices) / choices.size();
    }
}
