package dev.berth.hooks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ReadOnlyBufferException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TensorTest {

    @Test
    void itKeepsTypeShapeAndElements() {
        var tensor = Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3);
        assertThat(tensor.type()).isEqualTo(ElementType.FLOAT32);
        assertThat(tensor.shape()).containsExactly(2, 3);
        assertThat(tensor.rank()).isEqualTo(2);
        assertThat(tensor.size()).isEqualTo(6);
        assertThat(tensor.floats()).containsExactly(1, 2, 3, 4, 5, 6);
        assertThat(tensor).hasToString("float32[2, 3]");
    }

    @ParameterizedTest
    @EnumSource(value = ElementType.class, mode = EnumSource.Mode.EXCLUDE, names = "STRING")
    void everyTypeHoldsSmallNumbersAndComesBack(ElementType type) {
        var tensor = Tensor.of(new double[] {0, 1}, 2).as(type);
        assertThat(tensor.type()).isEqualTo(type);
        assertThat(tensor.data().remaining()).isEqualTo(2 * type.bytes());
        assertThat(tensor.as(ElementType.FLOAT64)).isEqualTo(Tensor.of(new double[] {0, 1}, 2));
        assertThat(tensor.floats()).containsExactly(0, 1);
        assertThat(ElementType.named(type.toString())).contains(type);
    }

    @Test
    void wholeNumbersKeepEveryBit() {
        var tensor = Tensor.of(new long[] {Long.MIN_VALUE, Long.MAX_VALUE - 1}, 2);
        assertThat(tensor.longs()).containsExactly(Long.MIN_VALUE, Long.MAX_VALUE - 1);
        assertThat(tensor.as(ElementType.INT32).longs()).containsExactly(0, -2);
        assertThat(Tensor.ofUnsigned(new byte[] {-1}, 1).longs()).containsExactly(255);
        assertThat(Tensor.of(new int[] {-1}, 1).as(ElementType.INT8).longs()).containsExactly(-1);
        assertThat(Tensor.of(new double[] {-2.7, 2.7}, 2).as(ElementType.INT64).longs())
                .containsExactly(-2, 2);
        assertThat(Tensor.of(new double[] {0.5, 0}, 2).as(ElementType.BOOL).longs())
                .containsExactly(1, 0);
        assertThatThrownBy(() -> Tensor.of(new float[] {1}, 1).longs())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("found elements of type float32, expected whole numbers");
    }

    @Test
    void fractionsBeyondTheEndsOfATypeBecomeItsEndsAndNanBecomes0() {
        var values = new float[] {3e9f, -3e9f, 1e30f, 300, -300, 7.9f, Float.NaN, -1 / 0f};
        for (var tensor : List.of(Tensor.of(values, 8), Tensor.of(values, 8).as(ElementType.FLOAT64))) {
            assertThat(tensor.as(ElementType.INT64).longs())
                    .containsExactly(3_000_000_000L, -3_000_000_000L, Long.MAX_VALUE, 300, -300, 7, 0, Long.MIN_VALUE);
            assertThat(tensor.as(ElementType.INT32).longs())
                    .containsExactly(
                            Integer.MAX_VALUE,
                            Integer.MIN_VALUE,
                            Integer.MAX_VALUE,
                            300,
                            -300,
                            7,
                            0,
                            Integer.MIN_VALUE);
            assertThat(tensor.as(ElementType.INT16).longs())
                    .containsExactly(32767, -32768, 32767, 300, -300, 7, 0, -32768);
            assertThat(tensor.as(ElementType.INT8).longs()).containsExactly(127, -128, 127, 127, -128, 7, 0, -128);
            assertThat(tensor.as(ElementType.UINT8).longs()).containsExactly(255, 0, 255, 255, 0, 7, 0, 0);
        }
        assertThat(Tensor.of(new float[] {1e6f}, 1).as(ElementType.FLOAT16).as(ElementType.INT16))
                .isEqualTo(Tensor.of(new int[] {32767}, 1).as(ElementType.INT16));
    }

    @Test
    void wholeNumbersThatDoNotFitKeepTheirLowerBits() {
        var tensor = Tensor.of(new long[] {0x1_8081L, -1}, 2);
        assertThat(tensor.as(ElementType.INT16).longs()).containsExactly((short) 0x8081, -1);
        assertThat(tensor.as(ElementType.INT8).longs()).containsExactly((byte) 0x81, -1);
        assertThat(tensor.as(ElementType.UINT8).longs()).containsExactly(0x81, 255);
        assertThat(tensor.as(ElementType.INT32).as(ElementType.UINT8).longs()).containsExactly(0x81, 255);
    }

    @Test
    void aLongIsRoundedToAFloatOnce() {
        // As a double it would be 2^60 + 2^36, half way, and become 2^60 then.
        long value = (1L << 60) + (1L << 36) + 1;
        var tensor = Tensor.of(new long[] {value}, 1);
        assertThat(tensor.floats()).containsExactly(0x1.000002p60f);
        assertThat(tensor.as(ElementType.FLOAT32).floats()).containsExactly((float) value);
    }

    @Test
    void textsAreElementsToo() {
        var tensor = Tensor.of(new String[] {"a", "", "Łódź"}, 3, 1);
        assertThat(tensor.type()).isEqualTo(ElementType.STRING);
        assertThat(tensor.texts()).containsExactly("a", "", "Łódź");
        assertThat(tensor).hasToString("string[3, 1]").isNotEqualTo(tensor.reshape(3));
        assertThat(tensor.data().remaining()).isZero();
        assertThat(Tensor.stack(tensor.unstack())).isEqualTo(tensor).hasSameHashCodeAs(tensor);
        assertThat(tensor.unstack().getLast()).isEqualTo(Tensor.of(new String[] {"Łódź"}, 1));
        assertThat(ElementType.named("string")).contains(ElementType.STRING);
        assertThatThrownBy(() -> Tensor.of(new String[] {"a"}, 2))
                .hasMessage("texts: found 1, expected 2 for string[2]");
        assertThatThrownBy(() -> tensor.as(ElementType.FLOAT32))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("found string[3, 1], expected float32");
        assertThatThrownBy(tensor::floats).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(tensor::longs).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(Tensor.of(new int[] {1}).as(ElementType.BOOL)::texts)
                .hasMessage("found elements of type bool, expected texts");
    }

    @Test
    void stackingAndTakingApartAreInverse() {
        var rows = List.of(Tensor.of(new int[] {1, 2}, 2), Tensor.of(new int[] {3, 4}, 2));
        var stacked = Tensor.stack(rows);
        assertThat(stacked).isEqualTo(Tensor.of(new int[] {1, 2, 3, 4}, 2, 2));
        assertThat(stacked.unstack()).isEqualTo(rows);
        assertThat(Tensor.stack(stacked.unstack())).isEqualTo(stacked).hasSameHashCodeAs(stacked);
        assertThat(Tensor.of(new float[0], 0, 7).unstack()).isEmpty();
        assertThat(Tensor.stack(List.of(Tensor.of(new float[] {9})))).isEqualTo(Tensor.of(new float[] {9}, 1));
    }

    @Test
    void whatDoesNotFitIsRefused() {
        assertThatThrownBy(() -> Tensor.of(new float[5], 2, 3))
                .hasMessage("data: found 20 bytes, expected 24 for float32[2, 3]");
        assertThatThrownBy(() -> Tensor.of(new float[6], -2, -3)).hasMessageContaining("no negative length");
        assertThatThrownBy(() -> Tensor.of(new float[0], 1 << 20, 1 << 20)).isInstanceOf(ArithmeticException.class);
        assertThatThrownBy(() -> Tensor.stack(List.of())).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> Tensor.stack(List.of(Tensor.of(new float[1], 1), Tensor.of(new int[1], 1))))
                .hasMessage("found int32[1] beside float32[1], expected tensors of one kind");
        assertThatThrownBy(() -> Tensor.of(new float[1]).unstack()).isInstanceOf(IllegalStateException.class);
        assertThat(ElementType.named("complex64")).isEmpty();
    }

    @Test
    void nobodyCanChangeIt() {
        var tensor = Tensor.of(new float[] {1}, 1);
        assertThatThrownBy(() -> tensor.data().putFloat(0, 2)).isInstanceOf(ReadOnlyBufferException.class);
        tensor.shape()[0] = 7;
        assertThat(tensor.shape()).containsExactly(1);
        var bytes = new byte[] {1};
        var unsigned = Tensor.ofUnsigned(bytes, 1);
        bytes[0] = 2;
        assertThat(unsigned.longs()).containsExactly(1);
    }

    @Test
    void bytesAreTakenFromWhereTheyBegin() {
        var buffer = ByteBuffer.wrap(new byte[] {9, 1, 0, 2, 0}).position(1);
        assertThat(Tensor.of(ElementType.INT16, buffer, 2).longs()).containsExactly(1, 2);
        assertThat(Tensor.of(new float[] {1, 2, 3, 4}, 4).reshape(2, 2).shape()).containsExactly(2, 2);
    }
}
