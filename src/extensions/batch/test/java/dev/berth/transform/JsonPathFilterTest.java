package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.hooks.BadInputException;
import dev.berth.transform.filter.JsonPathFilter;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonPathFilterTest {

    private static final RecordFormat JSON = RecordFormat.JSON;

    private static final String OBJECT =
            "{\"id\":7,\"f\":{\"a\":1.0,\"b\":[2,3]},\"list\":[{\"x\":1},{\"x\":2}],\"SageMakerOutput\":{\"label\":1}}";
    private static final String LIST = "[0,1,2,3,4,5,6,7]";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "$|" + OBJECT,
                "$.id|7",
                "$['id']|7",
                "$.['id']|7",
                "$.f.a|1.0",
                "$['f']['a']|1.0",
                "$.f.*|[1.0,[2,3]]",
                "$.f[*]|[1.0,[2,3]]",
                "$.f.['b','a']|{\"b\":[2,3],\"a\":1.0}",
                "$.f['a']|1.0",
                "$.f.['a', 'b']|{\"a\":1.0,\"b\":[2,3]}",
                "$['id','SageMakerOutput']|{\"id\":7,\"SageMakerOutput\":{\"label\":1}}",
                "$.f.b[1]|3",
                "$.f.b[0:1]|[2]",
                "$.list[*].x|[1,2]",
                "$.list[0,1]['x']|[1,2]",
                "$.list[-1].x|2",
                "$.list.*|[{\"x\":1},{\"x\":2}]",
                "$['f','SageMakerOutput'].*|[1.0,[2,3],1]",
                "$['id','f'].*|found a number, expected an object or a list",
                "$.nope|found an object, expected an object with the member \"nope\"",
                "$['id','nope']|found an object, expected an object with the member \"nope\"",
            })
    @Tag("JOIN-05")
    @Tag("JOIN-07")
    void objectsAreFiltered(String path, String expected) {
        assertFiltered(path, false, OBJECT, expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "$|[0,1,2,3,4,5,6,7]",
                "$[3]|3",
                "$[-1]|7",
                "$[-8]|0",
                "$[1,3,5]|[1,3,5]",
                "$[0,-1]|[0,7]",
                "$[3,0,3]|[3,0,3]",
                "$[:2]|[0,1]",
                "$[6:]|[6,7]",
                "$[-2:]|[6,7]",
                "$[:-6]|[0,1]",
                "$[-3:-1]|[5,6]",
                "$[5:100]|[5,6,7]",
                "$[-100:1]|[0]",
                "$[7:8]|[7]",
                "$[0:1]|[0]",
                "$[:1,-1]|[0,7]",
                "$[ 0 , 6: ]|[0,6,7]",
                "$[0,5:]|[0,5,6,7]",
                "$[*]|[0,1,2,3,4,5,6,7]",
                "$[2147483647,0:]|found a list of 8, expected a list with the index 2147483647",
                "$[8]|found a list of 8, expected a list with the index 8",
                "$[-9]|found a list of 8, expected a list with the index -9",
                "$[0,8]|found a list of 8, expected a list with the index 8",
                "$[-999999999999999999]|found a list of 8, expected a list with the index -999999999999999999",
                "$[8:]|found a list of 8, expected a list with elements in 8:",
                "$[3:3]|found a list of 8, expected a list with elements in 3:3",
                "$[:-8]|found a list of 8, expected a list with elements in :-8",
                "$.a|found a list of 8, expected an object with the member \"a\"",
                "$[0][0]|found a number, expected a list",
                "$[0].*|found a number, expected an object or a list",
            })
    @Tag("JOIN-06")
    @Tag("JOIN-07")
    void listsAreFiltered(String path, String expected) {
        assertFiltered(path, false, LIST, expected);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "$[1:4]|[1,2,3]|[1,2,3,4]",
                "$[:5]|[0,1,2,3,4]|[0,1,2,3,4,5]",
                "$[2:]|[2,3,4,5]|[2,3,4,5]",
                "$[0:-1]|[0,1,2,3,4]|[0,1,2,3,4,5]",
                "$[0:5]|[0,1,2,3,4]|[0,1,2,3,4,5]",
                "$[0:999999999999999999]|[0,1,2,3,4,5]|[0,1,2,3,4,5]",
                "$[4:-6]|found a list of 6, expected a list with elements in 4:-6|found a list of 6, expected a list with elements in 4:-6",
            })
    @Tag("JOIN-10")
    void slicesEndBeforeOrBehindTheirLastNumber(String path, String exclusive, String inclusive) {
        assertFiltered(path, false, "[0,1,2,3,4,5]", exclusive);
        assertFiltered(path, true, "[0,1,2,3,4,5]", inclusive);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "$[*]|[]|[]",
                "$.*|{}|[]",
                "$[0:]|[]|found a list of 0, expected a list with elements in 0:",
                "$.a.b|{\"a\":\"text\"}|found the text \"text\", expected an object with the member \"b\"",
                "$.a-b_c%d|{\"a-b_c%d\":1}|1",
                "$['a b','c,d']|{\"c,d\":2,\"a b\":1}|{\"a b\":1,\"c,d\":2}",
            })
    void whateverTheValueIsItIsFilteredOrRefused(String path, String value, String expected) {
        assertFiltered(path, false, value, expected);
    }

    /// @param expected what is left, or what is wrong
    private static void assertFiltered(String path, boolean inclusiveSlices, String value, String expected) {
        var filter = JsonPathFilter.parse(path, inclusiveSlices);
        if (expected.startsWith("found")) {
            assertThatThrownBy(() -> filter.apply(JSON.read(value)))
                    .isInstanceOf(BadInputException.class)
                    .hasMessage(expected);
        } else {
            assertThat(JSON.write(filter.apply(JSON.read(value)))).isEqualTo(expected);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "id", " $"})
    @Tag("JOIN-08")
    void aFilterBeginsWithADollar(String text) {
        assertThatThrownBy(() -> JsonPathFilter.parse(text, false))
                .isInstanceOf(BadInputException.class)
                .hasMessage(
                        "found %s at offset 0 of \"%s\", expected $ at the beginning",
                        text.isEmpty() ? "the end" : "\"" + text + "\"", text);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "id",
                ".",
                "..a",
                " b",
                ".length()",
                "[?(@.a)]",
                "[]",
                "[\"a\"]",
                "[1",
                "[1,]",
                "[1:5:2]",
                "[:]",
                "[*,1]",
                "['a',1]",
                "[1,'a']",
                "['']",
                "['a",
                "[9999999999999999999]",
                "['a','b.c']",
                "['a','b[0]']",
                "['a','b]']"
            })
    @Tag("JOIN-08")
    void whatIsNoStepIsRefused(String step) {
        for (var before : step.equals("id") ? List.of("$") : List.of("$", "$.a", "$[0]")) {
            assertThatThrownBy(() -> JsonPathFilter.parse(before + step, false))
                    .isInstanceOf(BadInputException.class)
                    .hasMessageStartingWith("found \"")
                    .hasMessageEndingWith(
                            " of \"%s\", expected .name, ['name'], [0], [1:] or [*]".formatted(before + step));
        }
    }

    @Test
    @Tag("JOIN-08")
    void filtersHaveAtMost63Characters() {
        for (var character : List.of("ä", "😀")) {
            var name = character.repeat(61);
            assertFiltered("$." + name, false, "{\"%s\":1}".formatted(name), "1");
        }
        assertThatThrownBy(() -> JsonPathFilter.parse("$." + "a".repeat(62), false))
                .isInstanceOf(BadInputException.class)
                .hasMessage("found 64 characters, expected at most 63");
    }
}
