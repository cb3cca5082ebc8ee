package dev.berth.json;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JsonTextTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "``                   | found nothing, expected a JSON value",
                "[1, {\"a\": \"x     | not JSON at column 13: found unexpected end-of-input",
                "{                    | expected close marker for Object (start marker at [line: 1, column: 1])",
                "{a: 1}               | not JSON at column 2: found unexpected character ('a' (code 97)), expected double-quote",
                "{\"a\": 1,}          | not JSON at column 9: found unexpected character ('}' (code 125)), expected double-quote",
                "[1}                  | found unexpected close marker '}', expected ']'",
                "[-Infinity]          | found non-standard token '-Infinity'",
                "\"a\tb\"             | has to be escaped using backslash",
                "1 2                  | found a second JSON value at column 3, expected one",
                "{\"a\": 1}},         | not JSON at column 9: found unexpected close marker '}'",
                "[+1]                 | JSON spec does not allow numbers to have plus signs, expected JSON",
                "{\"a\": 1} // b      | maybe a (non-standard) comment?, expected JSON",
                "{\"a\": 1, \"a\": 2} | found duplicate field 'a', expected JSON",
            })
    void whatIsNotOneValueIsNamedWithItsPlace(String text, String message) {
        var bytes = text.getBytes(UTF_8);
        assertThatThrownBy(() -> JsonText.read(bytes))
                .isInstanceOf(NotJsonException.class)
                .hasMessageContaining(message)
                .message()
                .doesNotContain("Source", "Feature");
        if (!text.contains("\"a\": 2")) {
            assertThatThrownBy(() -> JsonText.exactly(text, JsonTextTest::skipped))
                    .hasMessageContaining(message);
        }
    }

    private static JsonParser skipped(JsonParser parser) throws IOException {
        parser.skipChildren().finishToken();
        return parser;
    }

    @Test
    void bytesThatAreNoTextAreNotJson() {
        for (var bytes : new byte[][] {{'"', (byte) 0xe9, '"'}, {0, 0, 1, 0, 0}}) {
            assertThatThrownBy(() -> JsonText.read(bytes)).isInstanceOf(NotJsonException.class);
        }
    }

    @ParameterizedTest
    @CsvSource({"1000, [, ]", "1000, 1, ''", "50000, n, '\":1}'"})
    void depthsNumbersAndNamesHaveLimits(int most, String part, String end) throws Exception {
        for (int count : List.of(most, most + 1)) {
            var text =
                    (part.equals("n") ? "{\"" : "") + part.repeat(count) + (part.equals("[") ? end.repeat(count) : end);
            if (count == most) {
                assertThat(JsonText.payload(text)).isNotNull();
            } else {
                assertThatThrownBy(() -> JsonText.payload(text))
                        .isInstanceOf(NotJsonException.class)
                        .hasMessageEndingWith(", expected at most (%d)", most);
            }
        }
    }

    @Test
    void aByteOrderMarkIsNoPartOfTheValueAndATextHasAnyLength() throws Exception {
        assertThat(JsonText.read("\uFEFF{}".getBytes(UTF_8))).isEmpty();
        var json = "\"" + "x".repeat(21_000_000) + "\"";
        assertThat(JsonText.read(json.getBytes(UTF_8)).textValue()).hasSize(21_000_000);
    }

    @Test
    void halfACharacterIsWrittenAsItsEscape() throws Exception {
        var json = "[\"\\ud800\",\"\ud83d\ude00\"]";
        assertThat(JsonText.write(JsonText.payload(json))).isEqualTo(json);
    }
}
