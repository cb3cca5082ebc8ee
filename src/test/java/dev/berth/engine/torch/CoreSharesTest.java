package dev.berth.engine.torch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ai.djl.pytorch.jni.JniUtils;
import dev.berth.artifact.Target;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

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
    assertThat(begin(first, 8, most).cores()).isEqualTo(share);
  }

  @Test
  void oneCoreIsTheCallersAndSeveralAreATeams() throws Exception {
    assertThat(begin(first, 2, 1).team()).isEmpty();
    clock.addAndGet(LONG_AFTER);
    assertThat(begin(second, 8, 2).team()).isPresent();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void aForwardHasTheThreadsOfItsShare(int cores) {
    Torch.load(Target.CPU, List.of());
    assertThat(shares.begin(8, cores).run(JniUtils::getNumThreads)).isEqualTo(cores);
  }

  @Test
  void forwardsAtTheSameTimeHaveTheirShares() throws Exception {
    assertThat(begin(first, 8, 3).cores()).isEqualTo(3);
    assertThat(begin(second, 8, 100).cores()).isEqualTo(4);
    assertThat(begin(third, 8, 100).cores()).as("the rest is the first team's").isEqualTo(1);
  }

  @Test
  void aForwardWaitsUntilACoreIsFree() throws Exception {
    var share = begin(first, 2, 2);
    assertThat(share.cores()).isEqualTo(2);
    var waiting = second.submit(() -> shares.begin(2, 2));
    await().until(() -> shares.waiting() == 1);

    shares.end(share);

    assertThat(waiting.get().cores()).as("nobody else wants any").isEqualTo(2);
    assertThat(waiting.get().team()).as("whoever calls").isEqualTo(share.team());
  }

  @Test
  void whereForwardsMostlyHaveCompanyTheOneThatEndedMayBeBackSoon() throws Exception {
    haveCompany();
    var share = begin(first, 1, 1);
    var waiting = second.submit(() -> shares.begin(2, 2));
    await().until(() -> shares.waiting() == 1 || waiting.isDone());

    end(first, share);

    assertThat(waiting.get().cores()).isEqualTo(1);
    assertThat(begin(first, 2, 2).cores()).as("the other has the rest").isEqualTo(1);
  }

  @Test
  void whoeverIsAloneAgainHasAllCoresAfterAMoment() throws Exception {
    haveCompany();
    end(second, begin(second, 2, 2));
    assertThat(once(first, 2)).as("the other may be between two forwards").isEqualTo(1);
    assertThat(once(first, 2)).as("it is not").isEqualTo(2);
    end(second, begin(second, 2, 2));
    clock.addAndGet(LONG_AFTER);
    assertThat(once(first, 2)).isEqualTo(2);
  }

  @Test
  void companyIsForgotten() throws Exception {
    haveCompany();
    for (int i = 0; i < 20; i++) {
      once(first, 2);
    }
    once(second, 2);
    assertThat(once(first, 2)).isEqualTo(2);
  }

  @Test
  void aWaitThatIsInterruptedGoesOn() throws Exception {
    var share = begin(first, 1, 1);
    var interrupted = new CompletableFuture<Boolean>();
    var waiting = Thread.ofPlatform().start(() -> {
      shares.begin(1, 1);
      interrupted.complete(Thread.currentThread().isInterrupted());
    });
    await().until(() -> shares.waiting() == 1);

    waiting.interrupt();
    shares.end(share);

    assertThat(interrupted.get()).isTrue();
  }

  @Test
  void whoeverIsAloneHasTheSameTeam() throws Exception {
    var one = begin(first, 2, 2);
    shares.end(one);
    clock.addAndGet(LONG_AFTER);
    var other = begin(second, 2, 2);
    assertThat(other.cores()).isEqualTo(2);
    assertThat(other.team()).isEqualTo(one.team());
  }

  @ParameterizedTest
  @CsvSource({"4,2,3", "8,4,5"})
  void otherTeamsLeaveTheFirstMoreThanHalf(int cores, int others, int left) throws Exception {
    var one = begin(first, cores, 2);
    var two = begin(second, cores, cores);
    assertThat(two.cores()).isEqualTo(others);
    shares.end(one);
    shares.end(two);
    clock.addAndGet(LONG_AFTER);
    assertThat(once(first, cores)).as("the second team keeps its helpers").isEqualTo(left);
  }

  @Test
  void aTeamThatShrinksLeavesCoresToOthers() throws Exception {
    assertThat(once(first, 8)).isEqualTo(8);
    assertThat(begin(first, 8, 3).cores()).isEqualTo(3);
    assertThat(begin(second, 8, 8).cores()).isEqualTo(4);
  }

  /// Lets two forwards run side by side, until that is usual.
  private void haveCompany() throws Exception {
    var other = begin(third, 2, 1);
    for (int i = 0; i < 20; i++) {
      once(first, 2);
    }
    end(third, other);
    clock.addAndGet(LONG_AFTER);
  }

  private int once(ExecutorService thread, int cores) throws Exception {
    var share = begin(thread, cores, Integer.MAX_VALUE);
    end(thread, share);
    return share.cores();
  }

  private CoreShares.Share begin(ExecutorService thread, int cores, int most) throws Exception {
    return thread.submit(() -> shares.begin(cores, most)).get();
  }

  private void end(ExecutorService thread, CoreShares.Share share) throws Exception {
    thread.submit(() -> shares.end(share)).get();
  }
}
