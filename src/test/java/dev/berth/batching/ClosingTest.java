package dev.berth.batching;

import static dev.berth.batching.Answers.assertAnswered;
import static dev.berth.batching.Answers.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.berth.error.ErrorType;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ClosingTest {

  @Test
  @Tag("RUN-07")
  void whatIsQueuedAndWhatRunsIsAnsweredWhileNewRequestsAreRefused() throws Exception {
    try (var serving = Serving.started()) {
      var running = serving.holdWorker();
      var queued = serving.askAndWait("a", "b");
      var closed = CompletableFuture.runAsync(() -> serving.batcher.close(Serving.LONG));
      await().untilAsserted(() ->
          assertRefused(serving.ask("late"), ErrorType.NOT_READY).hasMessage("words is stopping"));
      serving.model.release();

      assertAnswered(running, "HOLD");
      assertAnswered(queued, "A", "B");
      closed.get();
      assertThat(serving.model.events).containsExactly("open 0 on words-worker-0", "close 0 on words-worker-0");
      serving.assertMeasured("berth_workers 0.0");
    }
  }

  @Test
  void whenTheDrainIsOverTheRestFailsAndThePredictorIsInterruptedAndClosed() throws Exception {
    try (var serving = Serving.started()) {
      var running = serving.holdWorker();
      var queued = serving.askAndWait("a", "b");
      serving.batcher.close(Duration.ofMillis(20));

      assertRefused(running, ErrorType.NOT_READY).hasMessage("words has stopped");
      assertRefused(queued, ErrorType.NOT_READY).hasMessage("words has stopped");
      assertThat(serving.model.events).containsExactly(
          "open 0 on words-worker-0", "interrupt 0 on words-worker-0", "close 0 on words-worker-0");
      assertThat(serving.batcher.queueDepth()).isZero();
      assertRefused(serving.ask("late"), ErrorType.NOT_READY);
    }
  }

  @Test
  void aDrainDoesNotWaitForTheBatchDelay() throws Exception {
    try (var serving = Serving.started(1, new BatchLimits(4, 1_000, Duration.ofHours(1), 6))) {
      var queued = serving.askAndWait("a");
      serving.batcher.close(Serving.LONG);

      assertAnswered(queued, "A");
    }
  }

  @Test
  void aPredictorThatIsStuckDoesNotHoldTheCloseForEver() throws Exception {
    try (var serving = Serving.started()) {
      var stuck = serving.ask("stuck");
      serving.awaitRunning("stuck");
      serving.batcher.close();

      assertRefused(stuck, ErrorType.NOT_READY);
      assertThat(serving.model.events).containsExactly("open 0 on words-worker-0", "ignored an interrupt");
    }
  }

  @Test
  void anInterruptEndsTheDrainAndIsKept() throws Exception {
    try (var serving = Serving.started()) {
      var running = serving.holdWorker();
      Thread.currentThread().interrupt();
      serving.batcher.close(Serving.LONG);

      assertThat(Thread.interrupted()).isTrue();
      assertRefused(running, ErrorType.NOT_READY);
      assertThat(serving.model.events).endsWith("close 0 on words-worker-0");
    }
  }

  @Test
  void closingTwiceIsClosingOnce() throws Exception {
    try (var serving = Serving.started()) {
      serving.batcher.close();
      serving.batcher.close(Serving.LONG);

      assertThat(serving.model.events).containsExactly("open 0 on words-worker-0", "close 0 on words-worker-0");
    }
  }

  @Test
  void whatIsClosedDoesNotStart() {
    try (var serving = new Serving(1, new BatchLimits(1, 1, Duration.ZERO, 1))) {
      serving.batcher.close();

      assertThatThrownBy(serving.batcher::start)
          .isInstanceOf(ExecutionException.class)
          .cause().hasMessage("words-worker-0 was closed while it started");
      assertThat(serving.model.events).isEmpty();
    }
  }
}
