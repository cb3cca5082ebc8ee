package dev.berth.serving.hooks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.CapturedLog;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LoadExceptionTest {

    @Test
    void aHookThatTakesLongIsNamedInTheLog() throws Exception {
        try (var log = new CapturedLog()) {
            var result = LoadException.during("modelFn (code/Inference.java)", Duration.ofMillis(1), () -> {
                await().until(() -> log.events().size() > 2);
                return "model";
            });
            assertThat(result).isEqualTo("model");
            assertThat(log.events())
                    .allSatisfy(event -> assertThat(event.getFormattedMessage())
                            .startsWith(
                                    "modelFn (code/Inference.java) still runs after 0 s; /ping is 503 until it ends"));
        }
    }
}
