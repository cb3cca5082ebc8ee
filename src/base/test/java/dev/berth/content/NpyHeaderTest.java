package dev.berth.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class NpyHeaderTest {

    private static final String ENTRY = "an entry such as 'descr': '<f4' or 'shape': (2, 3), or }";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n",
                "{'shape': (2, 3), 'fortran_order': True, 'descr': '<f4'}",
                "{\"descr\":\"<f4\",\"fortran_order\":True,\"shape\":(2,3,)}",
                "{'descr': '<f4', 'fortran_order': True, 'shape': (2L, 3L), }",
                " \t{ 'descr' :\n'<f4' , 'fortran_order' : True , 'shape' : ( 2 , 3 , ) , }\r\n  ",
            })
    void keysAndSpacesMayStandInAnyOrder(String text) {
        var header = read(text);
        assertThat(header.shape()).containsExactly(2, 3);
        assertThat(header.columnMajor()).isTrue();
        assertThat(header.type()).isEqualTo(new NpyType("<f4", ElementType.FLOAT32, 4, ByteOrder.LITTLE_ENDIAN));
        assertThat(header.dataOffset()).isEqualTo(text.length());
        assertThat(header.size()).isEqualTo(6);
        assertThat(header.strides()).containsExactly(1, 2);
    }

    @ParameterizedTest
    @CsvSource({"<f4, 4", "=f4, 4", "|f4, 4", "f4, 4", ">f4, 4", "<u4, 4", ">u2, 2", "|b1, 1", ">i1, 1", "i8, 8"})
    void everyByteOrderIsRead(String name, int bytes) {
        var type = NpyType.of(name, 0);
        assertThat(type.bytes()).isEqualTo(bytes);
        assertThat(type.order()).isEqualTo(name.startsWith(">") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        assertThat(type.isPlain()).isEqualTo(!name.contains("u") && (bytes == 1 || !name.startsWith(">")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "<", "f", "<f16", "b2", "<<f4", "float32", "<f4 ", "i3", "x1", "<é", "f\n4"})
    void unknownTypesAreRefused(String name) {
        assertThatThrownBy(() -> NpyType.of(name, 7))
                .isInstanceOf(BadInputException.class)
                .hasMessage(
                        "offset 7: found the type \"%s\", expected bool, uint8, int8, int16, int32, int64, "
                                + "float16, float32, float64, uint16 or uint32",
                        name);
    }

    @ParameterizedTest
    @CsvSource({"V8, structured arrays", "|V8, structured arrays", "m8[s], dates", "O8, pickled objects", "a3, texts"})
    void typesThatAreNoNumbersAreNamed(String name, String kind) {
        assertThatThrownBy(() -> NpyType.of(name, 0))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(kind);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "[1]|offset 0: found \"[1]\", expected {",
                "{|offset 1: found the header's end, expected " + ENTRY,
                "{}|offset 2: found the header's end, expected the key descr",
                "{descr|offset 1: found \"descr\", expected " + ENTRY,
                "{'de\\x73cr'|offset 1: found \"'de\\x73cr'\", expected " + ENTRY,
                "{'descr' '<f4'|offset 1: found \"'descr' '<f4'\", expected " + ENTRY,
                "{'descr': '<f4' 'shape': ()|offset 1: found \"'descr': '<f4' 'shape': ()\", expected " + ENTRY,
                "{'descr': '<f4', 'descr': '<f4'}|offset 17: found a second descr, expected one",
                "{'type': '<f4'}|offset 1: found the key \"type\", expected descr, fortran_order and shape alone",
                "{'descr': '<f4'}|offset 16: found the header's end, expected the key fortran_order",
                "{'descr': '<f4', 'fortran_order': False}|offset 40: found the header's end, expected the key shape",
                "{'descr': True, 'fortran_order': False, 'shape': ()}|offset 10: found \"True\", expected a quoted text",
                "{'descr': ('<f4', 2)}|offset 10: found a structured type, expected one type of numbers for"
                        + " all elements, such as '<f4'",
                "{'fortran_order': Falsey}|offset 1: found \"'fortran_order': Falsey}\", expected " + ENTRY,
                "{'descr': 'f4', 'fortran_order': (), 'shape': ()}|offset 33: found \"()\", expected True or False",
                "{'descr': 'f4', 'fortran_order': True, 'shape': '3'}|offset 48: found \"'3'\", expected a tuple of lengths",
                "{'descr': 'f4', 'fortran_order': True, 'shape': (3)}|offset 48: found \"(3)\", expected a comma, as in (3,)",
                "{'shape': [3]}|offset 1: found \"'shape': [3]}\", expected " + ENTRY,
                "{'shape': (,)}|offset 1: found \"'shape': (,)}\", expected " + ENTRY,
                "{'shape': (3,,)}|offset 1: found \"'shape': (3,,)}\", expected " + ENTRY,
                "{'shape': (3, 4 5)}|offset 1: found \"'shape': (3, 4 5)}\", expected " + ENTRY,
                "{'shape': (-1,)}|offset 1: found \"'shape': (-1,)}\", expected " + ENTRY,
                "{'shape': (1.5,)}|offset 1: found \"'shape': (1.5,)}\", expected " + ENTRY,
                "{'descr': 'f4', 'fortran_order': True, 'shape': (99999999999,)}|offset 48: found \"(99999999999,)\", expected"
                        + " lengths of at most 2147483647",
            })
    void brokenHeadersAreRefusedAtTheirOffset(String text, String message) {
        assertThatThrownBy(() -> read(text))
                .isInstanceOf(BadInputException.class)
                .hasMessage(message);
    }

    @Test
    void whatFollowsTheHeaderIsRefused() {
        assertThatThrownBy(() -> read(header("(3,)") + " #"))
                .isInstanceOf(BadInputException.class)
                .hasMessage("offset 54: found \"} #\", expected " + ENTRY);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "(2147483647,)",
                "(65536, 65536)",
                "(2147483647, 2147483647, 0)",
                "(2147483647, 2147483647, 2147483647)",
                "(536870911,)"
            })
    void shapesThatNoTensorHoldsAreRefused(String shape) {
        assertThatThrownBy(() -> read(header(shape)))
                .isInstanceOf(BadInputException.class)
                .hasMessageStartingWith("shape: found \"[")
                .hasMessageEndingWith("of float32, expected a tensor of less than 2 GiB");
    }

    @ParameterizedTest
    @ValueSource(strings = {"(65536, 0)", "(536870909, 0, 7)", "(256, 256, 0)"})
    void rowsWithoutElementsAreFew(String shape) {
        assertThatThrownBy(() -> read(header(shape)))
                .isInstanceOf(BadInputException.class)
                .hasMessageStartingWith("shape: found \"[")
                .hasMessageEndingWith("expected at most 65535 rows without elements");
        assertThat(read(header("(65535, 0)")).size()).isZero();
    }

    @Test
    void aLargeShapeIsReadWhereItHoldsNothingOrFits() {
        assertThat(read(header("(0, 2147483647, 2147483647)")).size()).isZero();
        assertThat(read(header("(536870909,)")).size()).isEqualTo(536_870_909);
    }

    @Test
    void moreDimensionsThanNumpyTakesAreRefused() {
        assertThat(read(header("(" + "1,".repeat(64) + ")")).shape()).hasSize(64);
        assertThatThrownBy(() -> read(header("(" + "1,".repeat(65) + ")")))
                .isInstanceOf(BadInputException.class)
                .hasMessageEndingWith("found one more dimension, expected at most 64");
    }

    @Test
    void longNamesAreCutInMessages() {
        assertThatThrownBy(() -> read("{'" + "k".repeat(10_000) + "': ''}"))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("found the key \"" + "k".repeat(60) + "…\", expected");
        assertThatThrownBy(() -> read("{'fortran_order': True, 'shape': (), 'descr': '" + "f".repeat(10_000) + "'}"))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("found the type \"" + "f".repeat(60) + "…\", expected");
        assertThat(Excerpt.quoted("a".repeat(59) + "😀")).isEqualTo('"' + "a".repeat(59) + "…\"");
    }

    private static String header(String shape) {
        return "{'descr': '<f4', 'fortran_order': False, 'shape': %s}".formatted(shape);
    }

    private static NpyHeader read(String text) {
        var bytes = text.getBytes(StandardCharsets.ISO_8859_1);
        return NpyHeader.read(bytes, 0, bytes.length);
    }
}
