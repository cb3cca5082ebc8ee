package dev.berth.handler.qa;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

class WindowsTest {

    @Property
    void windowsCoverTheContextAndOverlapByTheStride(
            @ForAll @IntRange(min = 1, max = 5000) int tokens,
            @ForAll @IntRange(min = 1, max = 512) int room,
            @ForAll @IntRange(min = 0, max = 511) int anyStride) {
        int stride = anyStride % room;
        var windows = Windows.over(tokens, room, stride);
        long total = 0;
        for (int w = 0; w < windows.count(); w++) {
            int length = windows.end(w) - windows.start(w);
            total += length;
            assertThat(length).isBetween(1, room);
            if (w > 0) {
                assertThat(windows.end(w - 1) - windows.start(w)).isEqualTo(stride);
                assertThat(windows.end(w)).isGreaterThan(windows.end(w - 1));
            }
        }
        assertThat(windows.start(0)).isZero();
        assertThat(windows.end(windows.count() - 1)).isEqualTo(tokens);
        assertThat(windows.totalTokens()).isEqualTo(total);
        assertThat(windows.areAll()).isTrue();
    }

    @Property
    void piecesAreTheSameWindows(
            @ForAll @IntRange(min = 1, max = 2000) int tokens,
            @ForAll @IntRange(min = 1, max = 100) int room,
            @ForAll @IntRange(min = 1, max = 30) int most) {
        var windows = Windows.over(tokens, room, room / 2);
        var pieces = windows.pieces(most);
        int next = 0;
        long total = 0;
        for (var piece : pieces) {
            assertThat(piece.count()).isBetween(1, most);
            assertThat(piece.areAll()).isEqualTo(pieces.size() == 1);
            for (int w = 0; w < piece.count(); w++, next++) {
                assertThat(piece.start(w)).isEqualTo(windows.start(next));
                assertThat(piece.end(w)).isEqualTo(windows.end(next));
            }
            total += piece.totalTokens();
        }
        assertThat(next).isEqualTo(windows.count());
        assertThat(total).isEqualTo(windows.totalTokens());
    }
}
