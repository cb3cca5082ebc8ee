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
                "{                    | found the end of the text, expected that of the object that begins at line 1, column 1",
                "[1, {\"a\": \"x     | expected that of the object that begins at line 1, column 5",
                "[1,                  | expected that of the list that begins at line 1, column 1",
                "{a: 1}               | line 1, column 2: found 'a', expected a name in double quotes",
                "{\"a\": 1,}          | found '}', expected a name in double quotes",
                "{\"a\" 1}            | found '1', expected a colon",
                "{\"a\": 1 \"b\": 2}  | found '\"', expected a comma",
                "[1,]                 | found ']', expected a value",
                "[1}                  | found '}', expected a comma or ]",
                "{\"a\": 1]           | found ']', expected a comma or }",
                "NaN                  | found 'NaN', expected a value",
                "[-Infinity]          | found '-Infinity', expected a value",
                "'a'                  | found ''', expected a value",
                "True                 | found 'True', expected a value",
                "+1                   | found '+', expected a number as JSON writes them",
                "01                   | expected a number as JSON writes them",
                "\"\\x\"              | found 'x', expected an escape such as \\n or \\u00e9",
                "\"\\u12g4\"          | found 'g', expected an escape such as \\n or \\u00e9",
                "\"a\tb\"             | found a line break or another control character, expected its escape",
                "{\"\\ude00\": 1}     | found half of a character in a name",
                "1 2                  | found a second JSON value at line 1, column 3, expected one",
                "{\"a\": 1}},         | found more than a JSON value at line 1, column 9, expected its end",
                "{\"a\": 1, \"a\": 2} | found 'a' twice, expected it once",
                "// 1                 | found '/', expected a value",
            })
    void whatIsNotOneValueIsNamedInOurOwnWords(String text, String message) {
        var bytes = text.getBytes(UTF_8);
        assertThatThrownBy(() -> JsonText.read(bytes))
                .isInstanceOf(NotJsonException.class)
                .hasMessageEndingWith(message);
        if (!text.contains("\"a\": 2")) {
            assertThatThrownBy(() -> JsonText.exactly(text, JsonTextTest::skipped))
                    .as("a line needs no number")
                    .hasMessageEndingWith(message.replace("line 1, ", ""));
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
    @CsvSource(
            delimiter = '|',
            value = {
                "1000  | [ | ]      | JSON that is nested too deep, expected at most 1000 levels",
                "1000  | 1 |        | a number that is too long, expected at most 1000 digits",
                "50000 | n | \":1} | a name that is too long, expected at most 50000 characters",
            })
    void limitsAreNamedWithoutTheParsersNames(int most, String part, String end, String message) throws Exception {
        for (int count : List.of(most, most + 1)) {
            var text = (part.equals("n") ? "{\"" : "")
                    + part.repeat(count)
                    + ("]".equals(end) ? end.repeat(count) : end == null ? "" : end);
            if (count == most) {
                assertThat(JsonText.payload(text)).isNotNull();
            } else {
                assertThatThrownBy(() -> JsonText.payload(text)).hasMessage("found " + message);
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
