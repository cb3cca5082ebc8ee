package dev.berth.hooks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class InvocationRequestTest {

    @ParameterizedTest
    @ValueSource(strings = {"", "plain", "Jos\u00e9 \u6771\u4eac \ud83d\ude00", "a \ufffd that the caller wrote"})
    void textIsReadInUtf8(String text) throws IOException {
        var bytes = text.getBytes(StandardCharsets.UTF_8);
        assertThat(request("text/plain", bytes).text()).isEqualTo(text);
        assertThat(request("text/plain", ("\ufeff" + text).getBytes(StandardCharsets.UTF_8))
                        .text())
                .isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"iso-8859-1", "windows-1252", "utf-16", "utf-16le", "utf-32"})
    void textIsReadInTheCharsetOfTheContentType(String charset) throws IOException {
        var bytes = "Jos\u00e9".getBytes(Charset.forName(charset));
        assertThat(request("text/plain; charset=" + charset, bytes).text()).isEqualTo("Jos\u00e9");
    }

    @ParameterizedTest
    @CsvSource({
        "utf-8, 6162ff, 0xff at offset 2",
        "utf-8, efbfbdff, 0xff at offset 3",
        "utf-8, 61c3, 0xc3 at offset 1",
        "utf-8, f09f98, 0xf0 at offset 0",
        "utf-8, c080, 0xc0 at offset 0",
        "utf-8, eda080, 0xed at offset 0",
        "us-ascii, 61e9, 0xe9 at offset 1",
        "utf-16le, 610000, 0x00 at offset 2",
        "utf-16be, d83d0061, 0xd8 at offset 0",
        "shift_jis, 6185, 0x85 at offset 1"
    })
    void malformedBytesAreNamedByTheirOffset(String charset, String hex, String place) {
        var request = request("text/plain; charset=" + charset, HexFormat.of().parseHex(hex));
        assertThatThrownBy(request::text).isInstanceOf(BadInputException.class).hasMessageContaining(place);
    }

    @Test
    void theBodyCanBeReadTwice() throws IOException {
        var request = request("text/plain", "once".getBytes(StandardCharsets.UTF_8));
        assertThat(request.text()).isEqualTo("once");
        assertThat(request.text()).isEqualTo("once");
        assertThat(request.bytes()).isSameAs(request.bytes()).hasSize(4);
        var kept = request.withBytes();
        assertThat(kept.bytes()).isSameAs(request.bytes());
        assertThat(kept.body().readAllBytes()).isEqualTo(request.bytes());
        assertThat(request.withBody(new ByteArrayInputStream(new byte[] {'x'})).text())
                .isEqualTo("x");
    }

    @Test
    void jsonIsReadAsTheServerReadsIt() throws IOException {
        var request = request("application/json", "{\"rooms\": [1, NaN]}".getBytes(StandardCharsets.UTF_8));
        assertThat(request.json()).isEqualTo(request.json());
        assertThat(request.json().path("rooms").path(0).intValue()).isEqualTo(1);
        assertThat(request.json().path("rooms").path(1).doubleValue()).isNaN();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"rooms\": } | body: not JSON at column 11: found unexpected character ('}' (code 125)), expected a value",
                "'{\"rooms\":\n 1' | body: not JSON at line 2, column 3: found unexpected end-of-input",
                "{} {} | body: found a second JSON value at column 4, expected one",
                "'' | 'body: found nothing, expected a JSON value'"
            })
    void aDamagedBodyIsABadRequestThatNamesThePlace(String body, String message) {
        var request = request("application/json", body.replace("\\n", "\n").getBytes(StandardCharsets.UTF_8));
        assertThatThrownBy(request::json).isInstanceOf(BadInputException.class).hasMessageStartingWith(message);
    }

    @Test
    void theTimeThatIsLeftIsNeverLessThanNothing() {
        var request = request("text/plain", new byte[0]);
        assertThat(request.remaining()).isGreaterThan(Duration.ofDays(365));
        assertThat(request.withDeadline(System.nanoTime() - 1).remaining()).isZero();
        assertThat(request.withDeadline(System.nanoTime() + Duration.ofDays(1).toNanos())
                        .withHeaders(Map.of())
                        .remaining())
                .isPositive()
                .isLessThanOrEqualTo(Duration.ofDays(1));
    }

    private static InvocationRequest request(String contentType, byte[] body) {
        return new InvocationRequest(
                new ByteArrayInputStream(body),
                MediaType.parse(contentType).orElseThrow(),
                MediaType.JSON,
                Optional.empty(),
                "id",
                false);
    }
}
