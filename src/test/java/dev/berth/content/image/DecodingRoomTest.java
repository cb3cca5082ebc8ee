package dev.berth.content.image;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class DecodingRoomTest {

  private static final Image PICTURE = new Image(1, 1, new byte[3]);

  @Test
  void picturesThatHaveNoRoomBesideEachOtherAreDecodedOneAfterAnother() throws Exception {
    var room = new DecodingRoom(100);
    var inside = new AtomicInteger();
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var pictures = IntStream.range(0, 50).mapToObj(i -> threads.submit(() -> room.decode(i % 2 == 0 ? 51 : 5_000_000_000L, () -> {
        assertThat(inside.incrementAndGet()).isEqualTo(1);
        Thread.yield();
        inside.decrementAndGet();
        return PICTURE;
      }))).toList();
      for (var picture : pictures) {
        assertThat(picture.get()).isSameAs(PICTURE);
      }
    }
  }

  @Test
  void thoseThatHaveRoomAreDecodedTogether() throws Exception {
    var room = new DecodingRoom(100);
    var both = new CountDownLatch(2);
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int i = 0; i < 2; i++) {
        threads.submit(() -> room.decode(50, () -> {
          both.countDown();
          await(both);
          return PICTURE;
        }));
      }
      both.await();
    }
  }

  @Test
  void aFailureGivesItsRoomBack() {
    var room = new DecodingRoom(100);
    assertThatThrownBy(() -> room.decode(100, () -> {
      throw new OutOfMemoryError("heap");
    })).isInstanceOf(OutOfMemoryError.class);
    assertThat(room.decode(100, () -> PICTURE)).isSameAs(PICTURE);
  }

  @Test
  void whoIsInterruptedDoesNotWait() {
    var room = new DecodingRoom(100);
    Thread.currentThread().interrupt();
    assertThatThrownBy(() -> room.decode(100, () -> PICTURE)).isInstanceOf(IllegalStateException.class);
    assertThat(Thread.interrupted()).isTrue();
    assertThat(room.decode(100, () -> PICTURE)).isSameAs(PICTURE);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
