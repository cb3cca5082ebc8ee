package dev.berth.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class NpyTest {

    @ParameterizedTest
    @Tag("HOOK-05")
    @CsvSource({
        "u1, UINT8",
        "i1, INT8",
        "i2, INT16",
        "i4, INT32",
        "i8, INT64",
        "f2, FLOAT16",
        "f4, FLOAT32",
        "f8, FLOAT64",
        "u2, INT32",
        "u4, INT64"
    })
    void whatNumpyWroteIsReadInBothByteOrders(String kind, ElementType type) {
        var expected = countTo(6, 2, 3).as(type);
        assertThat(Npy.read(NpyFiles.read(kind + "-2x3.npy"))).isEqualTo(expected);
        if (type.bytes() > 1) {
            assertThat(Npy.read(NpyFiles.read("big-endian-" + kind + "-2x3.npy")))
                    .isEqualTo(expected);
        }
    }

    /// Unsigned numbers stay positive, and what stands column by column becomes row by row.
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "bool-2x1                   | bool[2, 1]        | 0 1",
                "u2-largest                 | int32[2]          | 0 65535",
                "u4-largest                 | int64[2]          | 0 4294967295",
                "fortran-f4-2x3x4           | float32[2, 3, 4]  | 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23",
                "fortran-big-endian-u2-3x2  | int32[3, 2]       | 0 1 2 3 4 5",
                "fortran-bool-2x2           | bool[2, 2]        | 0 1 0 0",
                "scalar-f8                  | float64[]         | 2.5",
                "empty-f4-0x7               | float32[0, 7]     | ''",
                "empty-fortran-u2-3x0x2     | int32[3, 0, 2]    | ''",
                "i4-5                       | int32[5]          | 0 1 2 3 4",
            })
    void everyKindOfFileIsRead(String name, String type, String numbers) {
        var tensor = Npy.read(NpyFiles.read(name + ".npy"));
        assertThat(tensor).hasToString(type);
        assertThat(tensor.doubles())
                .containsExactly(Stream.of(numbers.split(" "))
                        .filter(number -> !number.isEmpty())
                        .mapToDouble(Double::parseDouble)
                        .toArray());
    }

    @Test
    void aScalarMayHaveTheOtherByteOrder() {
        var one = ByteBuffer.allocate(4).putFloat(0, 2.5f);
        assertThat(Npy.read(file(header(">f4", "()"), one))).isEqualTo(Tensor.of(new float[] {2.5f}));
    }

    /// A pickle begins with 80.
    ///
    /// @param bytes other ones from there on
    @ParameterizedTest
    @Tag("HOOK-05")
    @CsvSource(
            delimiter = '|',
            value = {
                "i4-5           | 0   | 80       | the byte 0x80, expected \\x93NUMPY, with which an .npy file begins",
                "i4-5           | 6   | 0200     | the version 2.0, expected 1.0",
                "i4-5           | 6   | 0101     | the version 1.1, expected 1.0",
                "i4-5           | 6   | 0001     | the version 0.1, expected 1.0",
                "bool-2x1       | 129 | 02       | the byte 0x02, expected 0 or 1 for a bool",
            })
    void bytesThatCannotBeAreRefused(String name, int at, String bytes, String message) {
        var file = NpyFiles.read(name + ".npy");
        var others = HexFormat.of().parseHex(bytes);
        System.arraycopy(others, 0, file, at, others.length);
        assertRefused(file, "offset %d: found %s".formatted(at, message));
    }

    @Test
    @Tag("HOOK-05")
    void theSameBytesAreWrittenAsByNumpy() {
        for (var name : "bool-2x1 u1-2x3 i1-2x3 i2-2x3 i4-2x3 i8-2x3 f2-2x3 f4-2x3 f8-2x3 scalar-f8 empty-f4-0x7 i4-5"
                .split(" ")) {
            var bytes = NpyFiles.read(name + ".npy");
            assertThat(Npy.write(Npy.read(bytes))).as(name).isEqualTo(bytes);
        }
    }

    @ParameterizedTest
    @EnumSource(value = ElementType.class, mode = EnumSource.Mode.EXCLUDE, names = "STRING")
    void everyTypeAndRankComesBack(ElementType type) {
        for (int rank = 0; rank <= 64; rank++) {
            var shape = IntStream.range(0, rank).map(axis -> axis == 1 ? 2 : 1).toArray();
            var tensor = countTo(rank > 1 ? 2 : 1, shape).as(type);
            var bytes = Npy.write(tensor);
            assertThat(Npy.read(bytes)).isEqualTo(tensor);
            assertThat((bytes.length - tensor.data().remaining()) % 64).isZero();
        }
        assertThatThrownBy(() -> Npy.write(Tensor.of(
                        new int[1], IntStream.range(0, 65).map(axis -> 1).toArray())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("found 65 dimensions, expected at most 64");
    }

    @ParameterizedTest
    @Tag("HOOK-05")
    @CsvSource(
            delimiter = ';',
            value = {
                "object;found \"|O\", expected numbers: pickled objects are refused because they can run code",
                "unicode;found \"<U4\", expected bool, uint8,",
                "bytes;found \"|S4\", expected bool, uint8,",
                "datetime;found \"<M8[D]\", expected bool, uint8,",
                "c8-2x3;found \"<c8\", expected bool, uint8,",
                "u8-2x3;found \"<u8\", expected bool, uint8,"
            },
            quoteCharacter = '~')
    void whatIsNoNumberIsRefused(String name, String message) {
        assertThatThrownBy(() -> Npy.read(NpyFiles.read(name + ".npy")))
                .isInstanceOf(BadInputException.class)
                .hasMessageStartingWith("header.descr: " + message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "127 | offset 127: found the end, expected a header up to offset 128",
                "139 | offset 128: found 11 bytes of data, expected 12 as the header says",
                "141 | offset 128: found 13 bytes of data, expected 12 as the header says",
                "9   | offset 9: found the end, expected a header up to offset 10",
                "7   | offset 7: found the end, expected a header up to offset 10",
                "3   | offset 3: found the end, expected \\x93NUMPY, with which an .npy file begins",
            })
    void filesOfAnotherLengthAreRefused(int length, String message) {
        assertRefused(Arrays.copyOf(NpyFiles.read("u2-2x3.npy"), length), message);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n",
                "{'shape': (2, 3), 'fortran_order': True, 'descr': '=f4'}",
                "{\"descr\":\"f4\",\"fortran_order\":True,\"shape\":(2,3,)}",
                "{'descr': '|f4', 'fortran_order': True, 'shape': (2L, 3L), }",
                " \t{ 'descr' :\n'<f4' , 'fortran_order' : True , 'shape' : ( 2 , 3 , ) , }\r\n  ",
            })
    void keysAndSpacesOfAHeaderMayStandInAnyOrder(String header) {
        var columns = Tensor.of(new float[] {0, 3, 1, 4, 2, 5}, 6).data();
        assertThat(Npy.read(file(header, columns))).isEqualTo(countTo(6, 2, 3).as(ElementType.FLOAT32));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "[1]                | header: found a list, expected an object",
                "{                  | header: found ~{~, expected one such as {'descr'",
                "{'de\\x73cr'        | header: found",
                "{'fortran_order': Falsey}         | header: found",
                "{'shape': (3,,)}    | header: found",
                "{'shape': (3, 4 5)} | header: found",
                "{'descr': 'f4'} #   | header: found",
                "{}                  | header.descr: found nothing, expected one type of numbers",
                "{'type': '<f4'}     | header: found the unknown parameter ~type~, expected one of descr, fortran_order, shape",
                "{'descr': True}     | header.descr: found true, expected one type of numbers",
                "{'descr': ('<f4', 2)}             | header.descr: found a list, expected one type of numbers",
                "{'descr': [('x', '<f4', (2,))]}   | header.descr: found a list, expected one type of numbers",
                "{'descr': '<f4'}                  | header.fortran_order: found nothing, expected True or False",
                "{'descr': 'f4', 'fortran_order': ()}    | header.fortran_order: found a list, expected true or false",
                "{'descr': 'f4', 'fortran_order': False} | header.shape: found ~~, expected a tuple",
                "{'descr': 'f4', 'fortran_order': True, 'shape': '3'} | header.shape: found ~~3~~, expected a tuple",
                "{'descr': 'f4', 'fortran_order': True, 'shape': 3}   | header.shape: found ~3~, expected a tuple",
                "{'descr': 'f4', 'fortran_order': True, 'shape': [6]} | header.shape: found a list, expected a tuple",
                "{'descr': 'f4', 'fortran_order': True, 'shape': (3)} | header.shape: found ~3~, expected a tuple",
                "{'descr': 'f4', 'fortran_order': True, 'shape': (-1,)}  | header.shape: found ~[-1]~, expected a tuple",
                "{'descr': 'f4', 'fortran_order': True, 'shape': (1.5,)} | header.shape: found ~[1.5]~, expected a tuple",
                "{'descr': 'f4', 'fortran_order': True, 'shape': (99999999999,)} | header.shape: found ~[99999999999]~, expected a tuple of at most 64 lengths, none above 2147483647",
            })
    void brokenHeadersAreRefused(String header, String message) {
        assertThatThrownBy(() -> Npy.read(file(header, ByteBuffer.allocate(0))))
                .isInstanceOf(BadInputException.class)
                .hasMessageStartingWith(message.replace('~', '"'));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "<", "f", "<f16", "b2", "<<f4", "float32", "<f4 ", "i3", "x1", "<é", "V8", "m8[s]", "a3"})
    void unknownTypesAreRefused(String name) {
        assertThatThrownBy(() -> Npy.read(file(header(name, "()"), ByteBuffer.allocate(4))))
                .isInstanceOf(BadInputException.class)
                .hasMessageStartingWith("header.descr: found \"%s\", expected ", name);
    }

    /// Before room is made for them. Rows without elements are few.
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "(2147483647,)                        | expected a tensor of less than 2 GiB",
                "(65536, 65536)                       | expected a tensor of less than 2 GiB",
                "(2147483647, 2147483647, 0)          | expected a tensor of less than 2 GiB",
                "(2147483647, 2147483647, 2147483647) | expected a tensor of less than 2 GiB",
                "(536870911,)                         | expected a tensor of less than 2 GiB",
                "(65536, 0)                           | expected at most 65535 rows without elements",
                "(536870909, 0, 7)                    | expected at most 65535 rows without elements",
                "(256, 256, 0)                        | expected at most 65535 rows without elements",
                "(536870909,)                         | expected 2147483636 as the header says",
            })
    void shapesThatNoTensorHoldsAreRefused(String shape, String expected) {
        assertThatThrownBy(() -> Npy.read(file(header("f4", shape), ByteBuffer.allocate(0))))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining(expected);
    }

    @Test
    void arraysWithoutElementsAndOfManyDimensionsAreRead() {
        for (var shape : List.of("(65535, 0)", "(0, 2147483647, 2147483647)")) {
            assertThat(Npy.read(file(header("f4", shape), ByteBuffer.allocate(0)))
                            .size())
                    .isZero();
        }
        var one = ByteBuffer.allocate(4);
        assertThat(Npy.read(file(header("f4", "(" + "1,".repeat(64) + ")"), one))
                        .rank())
                .isEqualTo(64);
        assertThatThrownBy(() -> Npy.read(file(header("f4", "(" + "1,".repeat(65) + ")"), one)))
                .hasMessageContaining("expected a tuple of at most 64 lengths");
    }

    @Test
    void longNamesAreCutInMessages() {
        assertThatThrownBy(() -> Npy.read(file(header("f".repeat(10_000), "()"), ByteBuffer.allocate(0))))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("found \"" + "f".repeat(60) + "…\", expected");
        assertThat(Excerpt.quoted("a".repeat(59) + "😀")).isEqualTo('"' + "a".repeat(59) + "…\"");
    }

    private static void assertRefused(byte[] file, String message) {
        assertThatThrownBy(() -> Npy.read(file))
                .isInstanceOf(BadInputException.class)
                .hasMessage(message);
    }

    private static String header(String type, String shape) {
        return "{'descr': '%s', 'fortran_order': False, 'shape': %s}".formatted(type, shape);
    }

    private static byte[] file(String header, ByteBuffer data) {
        var text = header.getBytes(StandardCharsets.ISO_8859_1);
        var file = ByteBuffer.allocate(10 + text.length + data.remaining()).order(ByteOrder.LITTLE_ENDIAN);
        return file.put(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0})
                .putShort((short) text.length)
                .put(text)
                .put(data)
                .array();
    }

    private static Tensor countTo(int count, int... shape) {
        return Tensor.of(IntStream.range(0, count).asDoubleStream().toArray(), shape);
    }
}
