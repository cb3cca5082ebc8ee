package dev.berth.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.hooks.BadInputException;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.CharRange;
import net.jqwik.api.constraints.NotEmpty;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class CsvTest {

    static Stream<Arguments> rows() {
        return Stream.of(
                arguments("6\" pipe,3\n7\" pipe,4\n", "6\" pipe;3\n7\" pipe;4"),
                arguments("a,\"b\nc\",d\ne", "a;b\nc;d\ne"),
                arguments("\"a\"\"b\",\"\"", "a\"b;"),
                arguments("\"a\" ,b", "a;b"),
                arguments(" \"a\",b", " \"a\";b"),
                arguments("a\n\nb,\n", "a\n\nb;"),
                arguments("a\r\nb\r\n", "a\nb"),
                arguments("a\rb", "a\nb"));
    }

    @ParameterizedTest
    @MethodSource("rows")
    void rowsAndCellsEndWhereTheyShould(String text, String cells) throws Exception {
        assertThat(Csv.rows(text).stream().map(row -> String.join(";", row)).reduce((one, other) -> one + "\n" + other))
                .contains(cells);
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
