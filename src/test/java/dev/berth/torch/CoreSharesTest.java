package dev.berth.torch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CoreSharesTest {

  private final CoreShares shares = new CoreShares();
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
    assertThat(on(third, () -> shares.begin(8, 100))).as("what is left").isEqualTo(2);
  }

  @Test
  void whoeverIsNotAloneIsSoAgainWithItsNextForward() throws Exception {
    assertThat(on(first, () -> once(2))).isEqualTo(2);
    assertThat(on(second, () -> once(2))).isEqualTo(1);
    assertThat(on(first, () -> once(2))).as("the other may be between two forwards").isEqualTo(1);
    assertThat(on(first, () -> once(2))).isEqualTo(2);
  }

  @Test
  void threadsNeverHaveMoreHelpersThanThereAreCores() throws Exception {
    on(first, () -> once(2));
    assertThat(on(second, () -> once(2))).isEqualTo(1);
    assertThat(on(second, () -> once(2))).as("the first one's helper has the other core").isEqualTo(1);
  }

  @Test
  void aTeamGoesWithItsThread() throws Exception {
    var gone = new Thread(() -> once(2));
    gone.start();
    gone.join();
    on(first, () -> once(2));
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
