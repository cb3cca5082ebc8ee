package dev.berth.engine.torch;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import dev.berth.engine.EngineException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import dev.berth.memory.HeapRoom;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;

/// Copies tensors into the engine and out of it.
final class TensorCopy {

    /// The types that the engine can make. Making one that is not among these aborts the JVM.
    private static final Map<ElementType, DataType> TYPES = Map.of(
            ElementType.BOOL, DataType.BOOLEAN,
            ElementType.UINT8, DataType.UINT8,
            ElementType.INT8, DataType.INT8,
            ElementType.INT32, DataType.INT32,
            ElementType.INT64, DataType.INT64,
            ElementType.FLOAT16, DataType.FLOAT16,
            ElementType.FLOAT32, DataType.FLOAT32,
            ElementType.FLOAT64, DataType.FLOAT64);

    private TensorCopy() {}

    static NDArray in(Tensor tensor, NDManager manager) {
        var known = TYPES.containsKey(tensor.type()) ? tensor : tensor.as(ElementType.INT32);
        var shape = new Shape(Arrays.stream(known.shape()).asLongStream().toArray());
        return manager.create(known.data(), shape, TYPES.get(known.type()));
    }

    static Tensor out(NDArray array) {
        // Of a text there is no native array, and asking for one aborts the JVM.
        if (array.getDataType() == DataType.STRING) {
            throw new EngineException("the model returned a text, expected a tensor");
        }
        if (array.isSparse()) {
            throw new EngineException("the model returned a sparse tensor, expected a dense one");
        }
        return type(array.getDataType()).map(type -> copy(array, type)).orElseGet(() -> outOfUnnamed(array));
    }

    /// @throws EngineException when no type of tensors holds these numbers as they are
    private static Tensor outOfUnnamed(NDArray array) {
        var type = UnnamedType.of(array);
        var holder = type.holder();
        // What the engine can't name it can't convert to either, but it copies its bytes.
        var known = TYPES.containsKey(holder) ? array.toType(TYPES.get(holder), false) : array;
        var tensor = copy(known, holder);
        if (type == UnnamedType.UINT64 && Arrays.stream(tensor.longs()).anyMatch(value -> value < 0)) {
            throw UnnamedType.refused("uint64 beyond the range of int64");
        }
        return tensor;
    }

    private static Tensor copy(NDArray array, ElementType type) {
        var shape = Arrays.stream(array.getShape().getShape())
                .mapToInt(Math::toIntExact)
                .toArray();
        HeapRoom.require(array.size() * type.bytes());
        // Plain toByteBuffer() copies; with a direct buffer it would be a view of memory that is freed.
        return Tensor.of(type, array.toByteBuffer(), shape);
    }

    /// What the elements take in the engine's memory.
    static long bytes(NDArray array) {
        int bytes = array.getDataType().getNumOfBytes();
        return array.size() * (bytes > 0 ? bytes : UnnamedType.of(array).bytes());
    }

    private static Optional<ElementType> type(DataType type) {
        return TYPES.entrySet().stream()
                .filter(entry -> entry.getValue() == type)
                .map(Map.Entry::getKey)
                .findFirst();
    }
}
