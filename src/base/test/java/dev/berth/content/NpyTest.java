package dev.berth.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Tensor;
import dev.berth.testing.DamagedBytes;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class NpyTest {

    private static final MediaType NPY = MediaType.of("application", "x-npy");

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

    @Test
    void booleansAreReadAndNothingElseIsOne() {
        var bytes = NpyFiles.read("bool-2x1.npy");
        assertThat(Npy.read(bytes)).isEqualTo(countTo(2, 2, 1).as(ElementType.BOOL));
        bytes[129] = 2;
        assertThatThrownBy(() -> Npy.read(bytes))
                .isInstanceOf(BadInputException.class)
                .hasMessage("offset 129: found the byte 0x02, expected 0 or 1 for a bool");
    }

    @Test
    void unsignedNumbersStayPositive() {
        assertThat(Npy.read(NpyFiles.read("u2-largest.npy"))).isEqualTo(Tensor.of(new int[] {0, 65_535}, 2));
        assertThat(Npy.read(NpyFiles.read("u4-largest.npy"))).isEqualTo(Tensor.of(new long[] {0, 4_294_967_295L}, 2));
    }

    @Test
    void columnByColumnBecomesRowByRow() {
        assertThat(Npy.read(NpyFiles.read("fortran-f4-2x3x4.npy")))
                .isEqualTo(countTo(24, 2, 3, 4).as(ElementType.FLOAT32));
        assertThat(Npy.read(NpyFiles.read("fortran-big-endian-u2-3x2.npy")))
                .isEqualTo(countTo(6, 3, 2).as(ElementType.INT32));
        assertThat(Npy.read(NpyFiles.read("fortran-bool-2x2.npy")))
                .isEqualTo(Tensor.of(new int[] {0, 1, 0, 0}, 2, 2).as(ElementType.BOOL));
    }

    @Test
    void scalarsAndEmptyArraysAreRead() {
        assertThat(Npy.read(NpyFiles.read("scalar-f8.npy"))).isEqualTo(Tensor.of(new double[] {2.5}));
        assertThat(Npy.read(NpyFiles.read("empty-f4-0x7.npy"))).isEqualTo(Tensor.of(new float[0], 0, 7));
        assertThat(Npy.read(NpyFiles.read("empty-fortran-u2-3x0x2.npy"))).isEqualTo(Tensor.of(new int[0], 3, 0, 2));
    }

    @ParameterizedTest
    @ValueSource(strings = {"i4-5.npy", "version-2-i4-5.npy", "version-3-i4-5.npy"})
    void allVersionsAreRead(String name) {
        assertThat(Npy.read(NpyFiles.read(name))).isEqualTo(countTo(5, 5).as(ElementType.INT32));
    }

    @ParameterizedTest
    @Tag("HOOK-05")
    @ValueSource(
            strings = {
                "bool-2x1",
                "u1-2x3",
                "i1-2x3",
                "i2-2x3",
                "i4-2x3",
                "i8-2x3",
                "f2-2x3",
                "f4-2x3",
                "f8-2x3",
                "scalar-f8",
                "empty-f4-0x7",
                "i4-5"
            })
    void theSameBytesAreWrittenAsByNumpy(String name) {
        var bytes = NpyFiles.read(name + ".npy");
        assertThat(Npy.write(Npy.read(bytes))).isEqualTo(bytes);
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

    @Test
    @Tag("HOOK-05")
    void aHookTakesAndGivesIt() throws IOException {
        var body = NpyFiles.read("f4-2x3.npy");
        var request =
                new InvocationRequest(new ByteArrayInputStream(body), NPY, NPY, Optional.empty(), "a call", false);
        var tensor = Npy.read(request.bytes());
        var response = InvocationResponse.of(Npy.write(tensor), NPY);
        assertThat(tensor).hasToString("float32[2, 3]");
        assertThat(response.body()).isEqualTo(body);
    }

    @ParameterizedTest
    @Tag("HOOK-05")
    @CsvSource(
            delimiter = ';',
            value = {
                "object;found the type \"|O\", expected numbers: pickled objects are refused because they can run code",
                "structured;found a structured type, expected one type of numbers for all elements, such as '<f4'",
                "unicode;found the type \"<U4\", expected numbers: texts are refused",
                "bytes;found the type \"|S4\", expected numbers: texts are refused",
                "datetime;found the type \"<M8[D]\", expected numbers: dates and durations are refused",
                "c8-2x3;found the type \"<c8\", expected real numbers",
                "u8-2x3;found the type \"<u8\", expected int64: no type of tensors holds all numbers of uint64"
            },
            quoteCharacter = '~')
    void whatIsNoNumberIsRefused(String name, String message) {
        var offset = name.equals("structured") ? 22 : 20;
        assertThatThrownBy(() -> Npy.read(NpyFiles.read(name + ".npy")))
                .isInstanceOf(BadInputException.class)
                .hasMessage("offset %d: %s", offset, message);
    }

    @Test
    @Tag("HOOK-05")
    void aBarePickleIsRefused() {
        var pickle = new byte[] {(byte) 0x80, 4, 'N', '.'};
        assertThatThrownBy(() -> Npy.read(pickle))
                .isInstanceOf(BadInputException.class)
                .hasMessage("offset 0: found the byte 0x80, expected \\x93NUMPY, with which an .npy file begins");
    }

    @Test
    void filesOfAnotherLengthAreRefused() {
        var bytes = NpyFiles.read("u2-2x3.npy");
        assertThatThrownBy(() -> Npy.read(Arrays.copyOf(bytes, bytes.length - 1)))
                .isInstanceOf(BadInputException.class)
                .hasMessage("offset 128: found 11 bytes of data, expected 12 for \"[2, 3]\" of \"<u2\"");
        assertThatThrownBy(() -> Npy.read(Arrays.copyOf(bytes, bytes.length + 1)))
                .isInstanceOf(BadInputException.class)
                .hasMessage("offset 128: found 13 bytes of data, expected 12 for \"[2, 3]\" of \"<u2\"");
        assertThatThrownBy(() -> Npy.read(Arrays.copyOf(bytes, 127)))
                .isInstanceOf(BadInputException.class)
                .hasMessage("offset 127: found the end, expected a header up to offset 128");
        assertThatThrownBy(() -> Npy.read(Arrays.copyOf(bytes, 9)))
                .isInstanceOf(BadInputException.class)
                .hasMessage("offset 9: found the end, expected a header up to offset 10");
        assertThatThrownBy(() -> Npy.read(Arrays.copyOf(bytes, 7)))
                .isInstanceOf(BadInputException.class)
                .hasMessage("offset 7: found the end, expected a header up to offset 8");
        assertThatThrownBy(() -> Npy.read(Arrays.copyOf(bytes, 3)))
                .isInstanceOf(BadInputException.class)
                .hasMessage("offset 3: found the end, expected \\x93NUMPY, with which an .npy file begins");
    }

    @Test
    void otherVersionsAreRefused() {
        var bytes = NpyFiles.read("i4-5.npy");
        bytes[6] = 9;
        assertThatThrownBy(() -> Npy.read(bytes))
                .isInstanceOf(BadInputException.class)
                .hasMessage("offset 6: found the version 9.0, expected 1.0, 2.0 or 3.0");
        bytes[6] = 1;
        bytes[7] = 1;
        assertThatThrownBy(() -> Npy.read(bytes)).hasMessageContaining("found the version 1.1");
        bytes[6] = 0;
        assertThatThrownBy(() -> Npy.read(bytes)).hasMessageContaining("found the version 0.1");
    }

    @Test
    void aHeaderLongerThanTheFileIsRefusedBeforeItIsRead() {
        var bytes = NpyFiles.read("version-2-i4-5.npy");
        Arrays.fill(bytes, 8, 12, (byte) 0xff);
        assertThatThrownBy(() -> Npy.read(bytes))
                .isInstanceOf(BadInputException.class)
                .hasMessage("offset 148: found the end, expected a header up to offset 4294967307");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"fortran-big-endian-u2-3x2.npy", "version-3-i4-5.npy", "fortran-bool-2x2.npy", "structured.npy"})
    void damagedFilesAreReadOrRefused(String name) {
        DamagedBytes.areReadOrRefused(NpyFiles.read(name), Npy::read);
    }

    private static Tensor countTo(int count, int... shape) {
        return Tensor.of(IntStream.range(0, count).asDoubleStream().toArray(), shape);
    }
}
