package dev.berth.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.hooks.BadInputException;
import org.junit.jupiter.api.Test;

/// What the parser does not take is said in the words of whoever wrote it.
class JsonLimitsTest {

    @Test
    void deepNestingLongNumbersAndLongNamesAreNamedWithTheirLimit() {
        refused(
                "[".repeat(1001) + "]".repeat(1001),
                "body: found JSON that is nested too deep, expected at most 1000 levels");
        refused("1".repeat(1001), "body: found a number that is too long, expected at most 1000 digits");
        refused("1.5" + "1".repeat(1001), "body: found a number that is too long, expected at most 1000 digits");
        refused(
                "{\"%s\": 1}".formatted("n".repeat(50_001)),
                "body: found a name that is too long, expected at most 50000 characters");
    }

    @Test
    void whatIsAtTheLimitIsTaken() {
        assertThat(Json.parse("[".repeat(1000) + "]".repeat(1000), "body").isArray())
                .isTrue();
        assertThat(Json.parse("1".repeat(1000), "body").isNumber()).isTrue();
        assertThat(Json.parse("{\"%s\": 1}".formatted("n".repeat(50_000)), "body")
                        .size())
                .isEqualTo(1);
    }

    private static void refused(String text, String message) {
        assertThatThrownBy(() -> Json.parse(text, "body"))
                .isInstanceOf(BadInputException.class)
                .hasMessage(message);
    }
}
