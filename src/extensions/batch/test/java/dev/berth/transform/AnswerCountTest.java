package dev.berth.transform;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.hooks.MediaType;
import java.util.OptionalInt;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AnswerCountTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "application/json      | [1, [2, 3]]           | 2",
                "application/json      | []                    | 0",
                "application/json      | 1~2~3                 | 3",
                "application/json      | [1, 2]~[3, 4]~[5, 6]  | 3",
                "application/json      | {\"a\": [1, 2]}       |",
                "application/json      | [1, 2                 |",
                "application/jsonlines | 1~\"a\"~              | 2",
                "application/jsonlines | 1~~                   | 2",
                "text/csv              | 6\" pipe,3~7\" pipe,4 | 2",
                "text/csv              | \"a~b\",1~c,2~        | 2",
                "text/csv              | a~~                   | 2",
                "text/plain            | a~b                   |"
            })
    void recordsAreCountedWhereTheTypeTells(String type, String answer, Integer count) {
        assertThat(RecordFormat.count(answer.replace('~', '\n').getBytes(UTF_8), MediaType.parse(type)))
                .isEqualTo(count == null ? OptionalInt.empty() : OptionalInt.of(count));
    }
}
