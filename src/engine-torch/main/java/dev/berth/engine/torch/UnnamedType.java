package dev.berth.engine.torch;

import ai.djl.ndarray.NDArray;
import dev.berth.engine.EngineException;
import dev.berth.hooks.ElementType;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// The types of libtorch that no tensor can be made of by DJL, which reports most of them as one,
/// unknown. libtorch tells them apart.
enum UnnamedType {
    INT16(2, 2, ElementType.INT16),
    COMPLEX32(8, 4, null),
    COMPLEX64(9, 8, null),
    COMPLEX128(10, 16, null),
    QINT8(12, 1, null),
    QUINT8(13, 1, null),
    QINT32(14, 4, null),
    BFLOAT16(15, 2, ElementType.FLOAT32),
    FLOAT8_E5M2(23, 1, ElementType.FLOAT32),
    FLOAT8_E4M3FN(24, 1, ElementType.FLOAT32),
    FLOAT8_E5M2FNUZ(25, 1, ElementType.FLOAT32),
    FLOAT8_E4M3FNUZ(26, 1, ElementType.FLOAT32),
    UINT16(27, 2, ElementType.INT32),
    UINT32(28, 4, ElementType.INT64),
    UINT64(29, 8, ElementType.INT64);

    /// `at::_ops::result_type_Tensor::call(const Tensor&, const Tensor&)`: of twice the same tensor,
    /// its own type.
    private static final MethodHandle RESULT_TYPE = Libtorch.function(
            "_ZN2at4_ops18result_type_Tensor4callERKNS_6TensorES4_",
            FunctionDescriptor.of(ValueLayout.JAVA_BYTE, ValueLayout.ADDRESS, ValueLayout.ADDRESS));

    /// In libtorch's `c10::ScalarType`, to which types are only ever added.
    private final int number;

    private final int bytes;

    /// Holds every number of this type as it is; null: there is none.
    private final ElementType holder;

    UnnamedType(int number, int bytes, ElementType holder) {
        this.number = number;
        this.bytes = bytes;
        this.holder = holder;
    }

    /// @throws EngineException when it is none of these
    static UnnamedType of(NDArray array) {
        int number = number(array);
        return Arrays.stream(values())
                .filter(type -> type.number == number)
                .findFirst()
                .orElseThrow(() -> refused("elements of libtorch's type number " + number));
    }

    private static byte number(NDArray array) {
        try {
            // DJL's handle is the address of a tensor.
            var tensor = MemorySegment.ofAddress((Long) ((ai.djl.util.NativeResource<?>) array).getHandle());
            return (byte) RESULT_TYPE.invokeExact(tensor, tensor);
        } catch (Throwable e) {
            throw new IllegalStateException("libtorch does not tell the type of a tensor", e);
        }
    }

    int bytes() {
        return bytes;
    }

    /// @throws EngineException when no type of tensors holds these numbers
    ElementType holder() {
        return Optional.ofNullable(holder).orElseThrow(() -> refused(name().toLowerCase(Locale.ROOT)));
    }

    /// @param found instead of what is expected
    static EngineException refused(String found) {
        return new EngineException(
                "the model returned %s, expected real numbers of a type up to float64 or int64; convert them in its forward"
                        .formatted(found));
    }
}
