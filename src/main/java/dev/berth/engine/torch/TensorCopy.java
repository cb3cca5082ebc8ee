package dev.berth.engine.torch;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import dev.berth.engine.EngineException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import dev.berth.memory.HeapRoom;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;

/// Copies tensors into the engine and out of it.
final class TensorCopy {

  /// The types that the engine can make. Making one that is not among these aborts the JVM.
  private static final Map<ElementType, DataType> TYPES =
      Map.of(
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
    var data = known.data();
    // What is direct is not copied once more by the engine.
    var direct =
        data.isDirect()
            ? data
            : ByteBuffer.allocateDirect(data.remaining())
                .order(ByteOrder.nativeOrder())
                .put(data)
                .flip();
    return manager.create(direct, shape, TYPES.get(known.type()));
  }

  static Tensor out(NDArray array) {
    // Of a text there is no native array, and asking for one aborts the JVM.
    if (array.getDataType() == DataType.STRING) {
      throw new EngineException("the model returned a text, expected a tensor");
    }
    if (array.isSparse()) {
      throw new EngineException("the model returned a sparse tensor, expected a dense one");
    }
    if (array.getDataType() == DataType.COMPLEX64) {
      throw new EngineException("the model returned complex numbers, expected real ones");
    }
    var type = type(array.getDataType());
    var known = type.isPresent() ? array : array.toType(DataType.FLOAT32, false);
    var shape = Arrays.stream(known.getShape().getShape()).mapToInt(Math::toIntExact).toArray();
    HeapRoom.require(known.size() * known.getDataType().getNumOfBytes());
    // Plain toByteBuffer() copies; with a direct buffer it would be a view of memory that is freed.
    return Tensor.of(type.orElse(ElementType.FLOAT32), known.toByteBuffer(), shape);
  }

  private static Optional<ElementType> type(DataType type) {
    return TYPES.entrySet().stream()
        .filter(entry -> entry.getValue() == type)
        .map(Map.Entry::getKey)
        .findFirst();
  }
}
