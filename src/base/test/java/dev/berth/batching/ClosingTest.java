package dev.berth.batching;

import static dev.berth.batching.Answers.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.error.ErrorType;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class ClosingTest {

    @Test
    void whatIsOpenFailsAndThePredictorIsInterruptedAndClosed() throws Exception {
        try (var serving = Serving.started()) {
            var running = serving.askAndHold();
            var queued = serving.askAndWait("a", "b");
            serving.batcher.close();

            assertRefused(running, ErrorType.NOT_READY).hasMessage("words has stopped");
            assertRefused(queued, ErrorType.NOT_READY).hasMessage("words has stopped");
            assertThat(serving.model.events).containsExactly("open 0", "interrupt 0 on berth-worker-0", "close 0");
            assertThat(serving.depth()).isZero();
            assertRefused(serving.ask("late"), ErrorType.NOT_READY);
        }
    }

    @Test
    @Tag("slow")
    void aPredictorThatIsStuckDoesNotHoldTheCloseForEver() throws Exception {
        try (var serving = Serving.started()) {
            var stuck = serving.ask("stuck");
            serving.awaitRunning("stuck");
            serving.batcher.close();

            assertRefused(stuck, ErrorType.NOT_READY);
            assertThat(serving.model.events).containsExactly("open 0", "ignored an interrupt");
        }
    }

    @Test
    void anInterruptEndsTheWaitingAndIsKept() throws Exception {
        try (var serving = Serving.started()) {
            var running = serving.askAndHold();
            Thread.currentThread().interrupt();
            serving.batcher.close();

            assertThat(Thread.interrupted()).isTrue();
            assertRefused(running, ErrorType.NOT_READY);
            await().untilAsserted(() -> assertThat(serving.model.events).endsWith("close 0"));
        }
    }

    @Test
    void closingTwiceIsClosingOnce() throws Exception {
        try (var serving = Serving.started()) {
            serving.batcher.close();
            serving.batcher.close();

            assertThat(serving.model.events).containsExactly("open 0", "close 0");
        }
    }
}
