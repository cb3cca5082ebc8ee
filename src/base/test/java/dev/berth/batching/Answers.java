package dev.berth.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.assertj.core.api.AbstractThrowableAssert;

/// Assertions on what a caller got.
final class Answers {

    private Answers() {}

    static void assertAnswered(Future<List<String>> asked, String... expected) throws Exception {
        assertThat(asked.get()).containsExactly(expected);
    }

    static AbstractThrowableAssert<?, ?> assertRefused(Future<List<String>> asked, ErrorType type) {
        var thrown = thrown(asked);
        assertThat(thrown)
                .isInstanceOfSatisfying(
                        ServingException.class, e -> assertThat(e.type()).isEqualTo(type));
        return assertThat(thrown);
    }

    /// What the predictor threw.
    static AbstractThrowableAssert<?, ?> assertFailed(Future<List<String>> asked) {
        var thrown = thrown(asked);
        assertThat(thrown).isInstanceOf(ExecutionException.class);
        return assertThat(thrown.getCause());
    }

    /// What `predict` threw.
    static Throwable thrown(Future<List<String>> asked) {
        return catchThrowable(asked::get).getCause();
    }
}
