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
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        OBJECT|$|OBJECT
        OBJECT|$.id|7
        OBJECT|$['id']|7
        OBJECT|$.['id']|7
        OBJECT|$.f.a|1.0
        OBJECT|$['f']['a']|1.0
        OBJECT|$.f.*|[1.0,[2,3]]
        OBJECT|$.f[*]|[1.0,[2,3]]
        OBJECT|$.f.['b','a']|{"b":[2,3],"a":1.0}
        OBJECT|$.f['a']|1.0
        OBJECT|$.f.['a', 'b']|{"a":1.0,"b":[2,3]}
        OBJECT|$['id','SageMakerOutput']|{"id":7,"SageMakerOutput":{"label":1}}
        OBJECT|$.f.b[1]|3
        OBJECT|$.f.b[0:1]|[2]
        OBJECT|$.list[*].x|[1,2]
        OBJECT|$.list[0,1]['x']|[1,2]
        OBJECT|$.list[-1].x|2
        OBJECT|$.list.*|[{"x":1},{"x":2}]
        OBJECT|$['f','SageMakerOutput'].*|[1.0,[2,3],1]
        OBJECT|$['id','f'].*|found a number, expected an object or a list
        OBJECT|$.nope|found an object with [id, f, list, SageMakerOutput], expected an object with the member "nope"
        OBJECT|$['id','nope']|found an object with [id, f, list, SageMakerOutput], expected an object with the member "nope"
        LIST|$|[0,1,2,3,4,5,6,7]
        LIST|$[3]|3
        LIST|$[-1]|7
        LIST|$[-8]|0
        LIST|$[1,3,5]|[1,3,5]
        LIST|$[0,-1]|[0,7]
        LIST|$[3,0,3]|[3,0,3]
        LIST|$[:2]|[0,1]
        LIST|$[6:]|[6,7]
        LIST|$[-2:]|[6,7]
        LIST|$[:-6]|[0,1]
        LIST|$[-3:-1]|[5,6]
        LIST|$[5:100]|[5,6,7]
        LIST|$[-100:1]|[0]
        LIST|$[7:8]|[7]
        LIST|$[0:1]|[0]
        LIST|$[:1,-1]|[0,7]
        LIST|$[ 0 , 6: ]|[0,6,7]
        LIST|$[0,5:]|[0,5,6,7]
        LIST|$[*]|[0,1,2,3,4,5,6,7]
        LIST|$[2147483647,0:]|found a list of 8, expected a list with the index 2147483647
        LIST|$[8]|found a list of 8, expected a list with the index 8
        LIST|$[-9]|found a list of 8, expected a list with the index -9
        LIST|$[0,8]|found a list of 8, expected a list with the index 8
        LIST|$[-999999999999999999]|found a list of 8, expected a list with the index -999999999999999999
        LIST|$[8:]|found a list of 8, expected a list with elements in 8:
        LIST|$[3:3]|found a list of 8, expected a list with elements in 3:3
        LIST|$[:-8]|found a list of 8, expected a list with elements in :-8
        LIST|$.a|found a list of 8, expected an object with the member "a"
        LIST|$[0][0]|found a number, expected a list
        LIST|$[0].*|found a number, expected an object or a list
        []|$[*]|[]
        {}|$.*|[]
        []|$[0:]|found a list of 0, expected a list with elements in 0:
        {"a":"text"}|$.a.b|found the text "text", expected an object with the member "b"
        {"a-b_c%d":1}|$.a-b_c%d|1
        {"c,d":2,"a b":1}|$['a b','c,d']|{"a b":1,"c,d":2}
        """)
    @Tag("JOIN-05")
    @Tag("JOIN-06")
    @Tag("JOIN-07")
    void whateverTheValueIsItIsFilteredOrRefused(String value, String path, String expected) {
        assertFiltered(path, false, named(value), named(expected));
    }

    private static String named(String value) {
        return value.equals("OBJECT") ? OBJECT : value.equals("LIST") ? LIST : value;
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        $[1:4]|[1,2,3]|[1,2,3,4]
        $[:5]|[0,1,2,3,4]|[0,1,2,3,4,5]
        $[2:]|[2,3,4,5]|[2,3,4,5]
        $[0:-1]|[0,1,2,3,4]|[0,1,2,3,4,5]
        $[0:5]|[0,1,2,3,4]|[0,1,2,3,4,5]
        $[0:999999999999999999]|[0,1,2,3,4,5]|[0,1,2,3,4,5]
        $[4:-6]|found a list of 6, expected a list with elements in 4:-6|found a list of 6, expected a list with elements in 4:-6
        """)
    @Tag("JOIN-10")
    void slicesEndBeforeOrBehindTheirLastNumber(String path, String exclusive, String inclusive) {
        assertFiltered(path, false, "[0,1,2,3,4,5]", exclusive);
        assertFiltered(path, true, "[0,1,2,3,4,5]", inclusive);
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
