package dev.berth.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.hooks.BadInputException;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.NotEmpty;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CsvTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "6\" pipe,3~7\" pipe,4~ | 6\" pipe;3~7\" pipe;4",
                "a,\"b~c\",d~e        | a;b~c;d~e",
                "\"a\"\"b\",\"\"    | a\"b;",
                "\"a\" ,b            | a;b",
                "` \"a\",b`          | ` \"a\";b`",
                "a~~b,~               | a~~b;",
                "a\r~b\r~            | a~b",
                "a\rb                | a~b",
            })
    void rowsAndCellsEndWhereTheyShould(String text, String cells) throws Exception {
        var body = text.replace('~', '\n').replace("\\r", "\r");
        assertThat(Csv.rows(body).stream().map(row -> String.join(";", row)).reduce((one, other) -> one + "\n" + other))
                .contains(cells.replace('~', '\n'));
    }

    @Test
    void theTextOfRowsIsThatOfTheWhole() {
        assertThat(Csv.split("\n\"a\nb\",c\r\n\n,")).containsExactly("\n", "\"a\nb\",c\r\n", "\n", ",");
        assertThat(Csv.split("")).isEmpty();
        assertThat(Csv.cells("\"a,b\",\"c\" ,\r\n")).containsExactly("\"a,b\"", "\"c\" ", "");
    }

    @Test
    void quotesThatOpenNoWholeCellAreNamed() {
        assertThatThrownBy(() -> Csv.rows("1,2\n3,\"a\n4,5"))
                .isInstanceOf(BadInputException.class)
                .hasMessage("row 2, column 2: found \"\"a\n4,5\", expected a second quote at its end");
        assertThatThrownBy(() -> Csv.rows("\"a\"b,c"))
                .hasMessage("row 1, column 1: found \"b\" behind the second quote, expected a comma");
    }

    @Test
    void aRowWithoutACharacterIsNoBlankLine() throws Exception {
        var rows = List.of(
                new Object[] {"x", ""},
                new Object[] {""},
                new Object[] {"", ""},
                new Object[0],
                new Object[] {" "},
                new Object[] {null},
                new Object[] {1, null, JsonNodeFactory.instance.nullNode()},
                new Object[] {JsonNodeFactory.instance.textNode("")});
        var text = Csv.write(rows);
        assertThat(text).isEqualTo("x,\n\"\"\n,\n\"\"\n \n\"\"\n1,,\n\"\"\n");
        assertThat(Csv.rows(text)).hasSameSizeAs(rows);
    }

    /// What is written is read, whatever the cells hold.
    @Property(tries = 300)
    void whatIsWrittenIsRead(
            @ForAll @Size(min = 1, max = 3)
                    List<@Size(min = 1, max = 3) List<@NotEmpty @CharRange(from = '\n', to = ',') String>> rows)
            throws IOException {
        var cells = rows.stream()
                .map(row -> row.stream().map(cell -> "x" + cell + "x").toArray())
                .toList();
        assertThat(Csv.rows(Csv.write(cells)).stream().map(Arrays::asList).toList())
                .isEqualTo(cells.stream().map(Arrays::asList).toList());
    }
}
