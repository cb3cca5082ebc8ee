package dev.berth.transform;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.MediaType;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RecordFormatTest {

    private static final RecordFormat JSON = RecordFormat.JSON;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "1.0", "1.10", "-0", "-0.0", "1e5", "1E+400",
                        "0.1000000000000000055511151231257827021181583404541015625",
                "123456789012345678901234567890", "true", "false", "null", "\"\"", "{}", "[]",
                "{\"z\":1.50,\"a\":[1,2.0,{\"ä\":\"€ 😀 </>\"}],\"m\":null}", "\"\\n\\t\\\"\\\\\"",
            })
    void whatIsReadIsWrittenAsItWas(String text) {
        assertThat(JSON.write(JSON.read(text))).isEqualTo(text);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        { "a" : [ 1 , 2 ] }|{"a":[1,2]}
        "\\u00e9 \\ud83d\\ude00 \\/"|"é 😀 /"
        # Half a character can't be UTF-8.
        "\\ud83d."|"\\ud83d."
        {"a":1,"b":2,"a":3}|{"a":3,"b":2}
        """)
    void onlyBlanksAndNeedlessEscapesAreLost(String text, String written) {
        assertThat(JSON.write(JSON.read(text))).isEqualTo(written);
    }

    @Test
    void halfACharacterInANameIsRefused() {
        assertThatThrownBy(() -> JSON.read("{\"\\ude00\":1}"))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("surrogate");
    }

    @Test
    void numbersTextsAndNamesMayHaveAnyLength() {
        for (var text : List.of("%s", "0.%s", "\"%s\"", "{\"%s\":1}")) {
            var json = text.formatted("9".repeat(100_000));
            assertThat(JSON.write(JSON.read(json))).isEqualTo(json);
        }
    }

    @Test
    void theDeepestValueCanStillBeJoined() {
        var deep = JSON.read("[".repeat(999) + "]".repeat(999));
        assertThat(JSON.write(JSON.join(deep, deep))).hasSize(2 * 2 * 999 + 38);
        assertThatThrownBy(() -> JSON.read("[".repeat(1000) + "]".repeat(1000)))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("nesting depth (1000), expected at most (999");
    }

    @Test
    void longTokensAreCutInMessages() {
        assertThatThrownBy(() -> JSON.read("x".repeat(1000)))
                .isInstanceOf(BadInputException.class)
                .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(400));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        application/json      | [1, [2, 3]]           | 2
        application/json      | []                    | 0
        application/json      | 1~2~3                 | 3
        application/json      | [1, 2]~[3, 4]~[5, 6]  | 3
        application/json      | {"a": [1, 2]}       |
        application/json      | [1, 2                 |
        application/jsonlines | 1~"a"~              | 2
        application/jsonlines | 1~~                   | 2
        text/csv              | 6" pipe,3~7" pipe,4 | 2
        text/csv              | "a~b",1~c,2~        | 2
        text/csv              | a~~                   | 2
        text/plain            | a~b                   |
        """)
    void recordsAreCountedWhereTheTypeTells(String type, String answer, Integer count) {
        assertThat(RecordFormat.count(answer.replace('~', '\n').getBytes(UTF_8), MediaType.parse(type)))
                .isEqualTo(count == null ? OptionalInt.empty() : OptionalInt.of(count));
    }
}
