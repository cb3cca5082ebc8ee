package dev.berth.serving.hooks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.error.ErrorType;
import org.junit.jupiter.api.Test;

class HookFailureTest {

    @Test
    void whatTheServerThrewInAHookKeepsItsTypeWhateverTheHookAddsToIt() {
        var tooLarge = ErrorType.PAYLOAD_TOO_LARGE.because("too large");
        assertThat(HookFailure.of("inputFn", tooLarge)).isSameAs(tooLarge);
        // As where the hook closes a stream of its own while this goes by.
        tooLarge.addSuppressed(new IllegalStateException("x".repeat(20_000)));
        var failure = HookFailure.of("inputFn", tooLarge);
        assertThat(failure.type()).isEqualTo(ErrorType.PAYLOAD_TOO_LARGE);
        assertThat(failure).hasMessage("too large");
        assertThat(failure.getCause().getSuppressed()[0].getMessage()).hasSize(10_000);
    }
}
