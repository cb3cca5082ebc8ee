package dev.berth.torch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CoreSharesTest {

  private static final long LONG_AFTER = TimeUnit.SECONDS.toNanos(1);

  private final AtomicLong clock = new AtomicLong();
  private final CoreShares shares = new CoreShares(clock::get);
  private final ExecutorService first = Executors.newSingleThreadExecutor();
  private final ExecutorService second = Executors.newSingleThreadExecutor();
  private final ExecutorService third = Executors.newSingleThreadExecutor();

  @AfterEach
  void close() {
    first.close();
    second.close();
    third.close();
  }

  @ParameterizedTest
  @CsvSource({"0,1", "1,1", "2,2", "4,4", "1000,8"})
  void aForwardThatIsAloneHasTheCoresThatItIsWorth(int most, int share) throws Exception {
    assertThat(on(first, () -> shares.begin(8, most))).isEqualTo(share);
  }

  @Test
  void forwardsAtTheSameTimeHaveTheirShares() throws Exception {
    assertThat(on(first, () -> shares.begin(8, 3))).isEqualTo(3);
    assertThat(on(second, () -> shares.begin(8, 100))).isEqualTo(4);
    assertThat(on(third, () -> shares.begin(8, 100))).as("the rest is the first one's").isEqualTo(1);
  }

  @Test
  void aForwardWaitsUntilACoreIsFree() throws Exception {
    assertThat(on(first, () -> shares.begin(2, 2))).isEqualTo(2);
    var waiting = second.submit(() -> shares.begin(2, 2));
    await().until(() -> shares.waiting() == 1);

    first.submit(shares::end).get();

    assertThat(waiting.get()).as("the first one may be back soon").isEqualTo(1);
    assertThat(on(first, () -> shares.begin(2, 2))).as("the other has the rest").isEqualTo(1);
  }

  @Test
  void aWaitThatIsInterruptedGoesOn() throws Exception {
    on(first, () -> shares.begin(1, 1));
    var interrupted = new CompletableFuture<Boolean>();
    var waiting = Thread.ofPlatform().start(() -> {
      shares.begin(1, 1);
      interrupted.complete(Thread.currentThread().isInterrupted());
    });
    await().until(() -> shares.waiting() == 1);

    waiting.interrupt();
    first.submit(shares::end).get();

    assertThat(interrupted.get()).isTrue();
  }

  @Test
  void whoeverIsAloneAgainHasAllCoresAfterAMoment() throws Exception {
    assertThat(on(first, () -> once(2))).isEqualTo(2);
    assertThat(on(first, () -> once(2))).isEqualTo(2);
    on(second, () -> once(2));
    assertThat(on(first, () -> once(2))).as("the other may be between two forwards").isEqualTo(1);
    clock.addAndGet(LONG_AFTER);
    on(second, () -> once(2));
    clock.addAndGet(LONG_AFTER);
    assertThat(on(first, () -> once(2))).isEqualTo(2);
  }

  @Test
  void threadsNeverHaveMoreHelpersThanThereAreCores() throws Exception {
    on(first, () -> once(2));
    clock.addAndGet(LONG_AFTER);
    assertThat(on(second, () -> once(2))).as("the first one's helper has the other core").isEqualTo(1);
  }

  @Test
  void whatCameFirstIsLeftTheCoresWhoeverHadThemBefore() throws Exception {
    assertThat(on(first, () -> once(1))).as("a short warm-up").isEqualTo(1);
    clock.addAndGet(LONG_AFTER);
    assertThat(on(second, () -> once(2))).as("alone for a moment").isEqualTo(1);
    clock.addAndGet(LONG_AFTER);
    assertThat(on(first, () -> once(2))).isEqualTo(2);
  }

  @ParameterizedTest
  @CsvSource({"3,2,2", "4,2,3", "8,4,5"})
  void othersLeaveTheFirstMoreThanHalf(int cores, int others, int left) throws Exception {
    on(first, () -> once(1));
    clock.addAndGet(LONG_AFTER);
    assertThat(on(second, () -> once(cores))).isEqualTo(others);
    clock.addAndGet(LONG_AFTER);
    assertThat(on(third, () -> once(cores))).as("the second has what others may have").isEqualTo(1);
    clock.addAndGet(LONG_AFTER);
    assertThat(on(first, () -> once(cores))).isEqualTo(left);
  }

  @Test
  void aTeamGoesWithItsThread() throws Exception {
    var gone = new Thread(() -> once(2));
    gone.start();
    gone.join();
    clock.addAndGet(LONG_AFTER);
    assertThat(on(first, () -> once(2))).isEqualTo(2);
  }

  @Test
  void aTeamThatShrinksLeavesCoresToOthers() throws Exception {
    assertThat(on(first, () -> once(8))).isEqualTo(8);
    assertThat(on(first, () -> shares.begin(8, 3))).isEqualTo(3);
    assertThat(on(second, () -> once(8))).isEqualTo(4);
  }

  private int once(int cores) {
    try {
      return shares.begin(cores, Integer.MAX_VALUE);
    } finally {
      shares.end();
    }
  }

  private static int on(ExecutorService thread, Callable<Integer> call) throws Exception {
    return thread.submit(call).get();
  }
}
