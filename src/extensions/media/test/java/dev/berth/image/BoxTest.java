package dev.berth.image;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.hooks.Tensor;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class BoxTest {

    private static Box box(float left, float top, float right, float bottom, float score) {
        return new Box(left, top, right, bottom, "cat", score);
    }

    @Test
    void theLikeliestOfThoseThatOverlapIsLeft() {
        var likely = box(0, 0, 10, 10, 0.9f);
        var near = box(0, 2, 10, 10, 0.8f);
        var beside = box(20, 0, 30, 10, 0.7f);
        assertThat(Box.suppressed(List.of(beside, near, likely), 0.5)).containsExactly(likely, beside);
        assertThat(Box.suppressed(List.of(near, likely), 0.85)).containsExactly(likely, near);
        assertThat(Box.suppressed(List.of(), 0.5)).isEmpty();
    }

    @Test
    void boxesOfOtherLabelsAndWithoutAreaStay() {
        var cat = box(0, 0, 10, 10, 0.9f);
        var dog = new Box(0, 0, 10, 10, "dog", 0.9f);
        assertThat(Box.suppressed(List.of(dog, cat), 0.5)).containsExactly(dog, cat);
        var empty = box(5, 5, 5, 5, 0.5f);
        assertThat(Box.suppressed(List.of(empty, empty), 0)).hasSize(2);
    }

    @Test
    void aLetterboxHasTheWholePictureInItsMiddle() {
        var white = new byte[20 * 10 * 3];
        Arrays.fill(white, (byte) -1);
        var box = Image.of(Tensor.ofUnsigned(white, 10, 20, 3)).letterbox(40, 40);
        assertThat(box)
                .extracting(Letterbox::scale, Letterbox::left, Letterbox::top)
                .containsExactly(2.0, 0, 10);
        var rows = box.image().grey().unstack();
        assertThat(rows.get(9).longs()).containsOnly(0);
        assertThat(rows.get(10).longs()).containsOnly(255);
        assertThat(rows.get(29).longs()).containsOnly(255);
        assertThat(rows.get(30).longs()).containsOnly(0);
        var found = Box.centred(20, 20, 40, 20, "cat", 0.5f);
        assertThat(box.original(found).corners()).containsExactly(0f, 0f, 20f, 10f);
    }

    @Test
    void aThinPictureKeepsAPixel() {
        var thin = Image.of(Tensor.ofUnsigned(new byte[900], 1, 300, 3)).letterbox(8, 8);
        assertThat(thin.image().grey().shape()).containsExactly(8, 8);
    }
}
