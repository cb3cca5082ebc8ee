package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.error.ErrorType;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ErrorsTest {

    @ParameterizedTest
    @ValueSource(strings = {"x", "\u0000", "\"", "界", "😀"})
    void aLongMessageIsCutToWhatSageMakerHandsOn(String unit) throws Exception {
        var body = new String(ErrorForm.PLAIN.body(ErrorType.BAD_INPUT, unit.repeat(5000)), StandardCharsets.UTF_8);
        assertThat(body.length()).isBetween(1000, 2048);
        assertThat(new ObjectMapper().readTree(body).path("message").asText())
                .startsWith(unit)
                .endsWith("…")
                .doesNotContain("\ufffd");
    }

    @ParameterizedTest
    @EnumSource(ErrorType.class)
    void everyTypeHasAnErrorStatusAndTheMessageStandsFirst(ErrorType type) {
        assertThat(type.status()).isBetween(400, 599);
        assertThat(new String(ErrorForm.PLAIN.body(type, "why"), StandardCharsets.UTF_8))
                .isEqualTo(
                        "{\"message\":\"why\",\"type\":\"%s\",\"code\":%d}",
                        type.code().toLowerCase(Locale.ROOT), type.status());
    }
}
