package dev.berth.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import org.junit.jupiter.api.Test;

class PayloadMemoryTest {

  private static final long MEGABYTE = 1 << 20;

  @Test
  void aShareThatFindsNoRoomIsRefusedAtTheDeadline() {
    var memory = new PayloadMemory(MEGABYTE);
    try (var first = memory.new Share(); var second = memory.new Share()) {
      first.take(MEGABYTE / 2, System.nanoTime());
      second.take(MEGABYTE / 2, System.nanoTime());
      first.take(MEGABYTE / 2, System.nanoTime());
      assertThatThrownBy(() -> first.take(MEGABYTE, System.nanoTime())).isInstanceOfSatisfying(
          ServingException.class, e -> assertThat(e.type()).isEqualTo(ErrorType.OVERLOADED));
    }
    try (var alone = memory.new Share()) {
      alone.take(Long.MAX_VALUE, System.nanoTime());
    }
  }

  @Test
  void whatAHookTakesAfterItsRequestHasEndedIsGivenBackAtOnce() {
    var memory = new PayloadMemory(MEGABYTE);
    var ended = memory.new Share();
    ended.close();
    assertThatThrownBy(() -> ended.take(MEGABYTE, System.nanoTime())).isInstanceOfSatisfying(
        ServingException.class, e -> assertThat(e.type()).isEqualTo(ErrorType.DEADLINE_EXCEEDED));
    try (var next = memory.new Share()) {
      next.take(MEGABYTE, System.nanoTime());
    }
  }
}
