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
      @ForAll @IntRange(min = 0, max = 600) int stride) {
    var windows = Windows.over(tokens, room, stride);
    int overlap = Math.min(stride, room / 2);
    long total = 0;
    for (int w = 0; w < windows.count(); w++) {
      int length = windows.end(w) - windows.start(w);
      total += length;
      assertThat(length).isBetween(1, room);
      if (w > 0) {
        assertThat(windows.start(w)).isEqualTo(windows.start(w - 1) + room - overlap);
        assertThat(windows.end(w - 1) - windows.start(w)).isEqualTo(overlap);
        assertThat(windows.end(w)).isGreaterThan(windows.end(w - 1));
      }
    }
    assertThat(windows.start(0)).isZero();
    assertThat(windows.end(windows.count() - 1)).isEqualTo(tokens);
    assertThat(windows.totalTokens()).isEqualTo(total);
  }
}
