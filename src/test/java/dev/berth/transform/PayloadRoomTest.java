package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class PayloadRoomTest {

  private static final int MEBIBYTE = 1 << 20;

  @Test
  void payloadsHaveRoomForFourCopiesOfThemselves() throws Exception {
    var room = new PayloadRoom(10, 8 * MEBIBYTE);
    var first = room.take(MEBIBYTE);
    assertThat(room.tryTake(MEBIBYTE)).isEmpty();
    first.shrinkTo(100);
    var second = room.tryTake(MEBIBYTE - 2048).orElseThrow();
    assertThat(room.tryTake(MEBIBYTE)).isEmpty();
    first.close();
    second.close();
    room.take(MEBIBYTE + MEBIBYTE / 2).close();
    assertThat(room.tryTake(MEBIBYTE + MEBIBYTE / 2)).isPresent();
  }

  @Test
  void noMoreThanSoManyHaveRoomWhateverTheirSize() throws Exception {
    var room = new PayloadRoom(2, Long.MAX_VALUE);
    var first = room.take(0);
    room.take(MEBIBYTE).shrinkTo(0);
    assertThat(room.tryTake(0)).isEmpty();
    first.close();
    assertThat(room.tryTake(0)).isPresent();
  }

  @Test
  void onePayloadThatIsLargerThanAllRoomMayBeAlone() throws Exception {
    var room = new PayloadRoom(10, MEBIBYTE);
    try (var _ = room.take(Long.MAX_VALUE)) {
      assertThat(room.tryTake(0)).isEmpty();
    }
    assertThat(room.tryTake(Long.MAX_VALUE)).isPresent();
  }

  @Test
  void whoeverIsInterruptedWhileItWaitsTakesNothing() throws Exception {
    var room = new PayloadRoom(1, MEBIBYTE);
    var held = room.take(0);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> room.take(0)).isInstanceOf(InterruptedException.class);
    held.close();
    assertThat(room.tryTake(Long.MAX_VALUE)).isPresent();
  }
}
