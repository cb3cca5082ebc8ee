package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class JsonMembersTest {

    @Test
    void membersStandAsTheyStandInTheirText() {
        var text = """
        {"id": 1.50, "é": "ü", "list": [1e400, "\\ud800 \\"é\\"", {"id": 3}]\t, "text":"ä\\n",
         "none": null}""";
        var members = JsonMembers.of(text, Set.of("id", "list", "text", "none", "other"));
        assertThat(members.flaw()).isEmpty();
        assertThat(members.values())
                .isEqualTo(Map.of(
                        "id", "1.50",
                        "list", "[1e400, \"\\ud800 \\\"é\\\"\", {\"id\": 3}]",
                        "text", "\"ä\\n\"",
                        "none", "null"));
        var large = "{\"a\":\"%s\",\"b\":[1,\n2]}".formatted("é".repeat(100_000));
        assertThat(JsonMembers.of(large, Set.of("b")).values()).isEqualTo(Map.of("b", "[1,2]"));
        assertThat(JsonMembers.of("[{\"a\":1}]", Set.of("a")).values()).isEmpty();
    }

    @Test
    void whatComesBeforeAFlawIsThere() {
        var members = JsonMembers.of("{\"a\":1,\"b\":{]}", Set.of("a", "b"));
        assertThat(members.values()).isEqualTo(Map.of("a", "1"));
        assertThat(members.flaw()).isPresent();
        assertThat(JsonMembers.of("{\"a\":1}{\"a\":2}", Set.of("a")).flaw().orElseThrow())
                .hasMessage("found a second JSON value at column 8, expected one");
        assertThat(JsonMembers.of("{\"a\":1,\"a\":2}", Set.of("a")).flaw().orElseThrow())
                .hasMessage("found a twice, expected it once");
    }
}
