package dev.berth.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.CapturedLog;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LoadExceptionTest {

  @Test
  void aHookThatTakesLongIsNamedInTheLog() throws Exception {
    try (var log = new CapturedLog()) {
      var result = LoadException.during("modelFn (code/Inference.java)", Duration.ofMillis(1), () -> {
        await().until(() -> log.text().contains("modelFn (code/Inference.java) still runs after 0 s"));
        return "model";
      });
      assertThat(result).isEqualTo("model");
    }
  }

  @Test
  void whatAHookThrowsIsTheCause() {
    var thrown = new StackOverflowError();
    assertThatThrownBy(() -> LoadException.during("warmUpFn", () -> {
      throw thrown;
    })).isInstanceOf(LoadException.class).hasMessage("warmUpFn failed: java.lang.StackOverflowError").hasCause(thrown);
  }
}
