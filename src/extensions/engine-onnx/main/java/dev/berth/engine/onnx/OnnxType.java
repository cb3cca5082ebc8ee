package dev.berth.engine.onnx;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.TensorInfo.OnnxTensorType;
import dev.berth.hooks.ElementType;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// The types of ONNX's tensors.
enum OnnxType {
    FLOAT32(1, OnnxTensorType.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, OnnxJavaType.FLOAT, ElementType.FLOAT32),
    UINT8(2, OnnxTensorType.ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, OnnxJavaType.UINT8, ElementType.UINT8),
    INT8(3, OnnxTensorType.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, OnnxJavaType.INT8, ElementType.INT8),
    UINT16(4, OnnxTensorType.ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, null, ElementType.INT32),
    INT16(5, OnnxTensorType.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, OnnxJavaType.INT16, ElementType.INT16),
    INT32(6, OnnxTensorType.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, OnnxJavaType.INT32, ElementType.INT32),
    INT64(7, OnnxTensorType.ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, OnnxJavaType.INT64, ElementType.INT64),
    STRING(8, OnnxTensorType.ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, OnnxJavaType.STRING, ElementType.STRING),
    BOOL(9, OnnxTensorType.ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, OnnxJavaType.BOOL, ElementType.BOOL),
    FLOAT16(10, OnnxTensorType.ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, OnnxJavaType.FLOAT16, ElementType.FLOAT16),
    FLOAT64(11, OnnxTensorType.ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, OnnxJavaType.DOUBLE, ElementType.FLOAT64),
    UINT32(12, OnnxTensorType.ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, null, ElementType.INT64),
    UINT64(13, OnnxTensorType.ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, null, ElementType.INT64),
    COMPLEX64(14, OnnxTensorType.ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64, null, null),
    COMPLEX128(15, OnnxTensorType.ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128, null, null),
    BFLOAT16(16, OnnxTensorType.ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, OnnxJavaType.BFLOAT16, ElementType.FLOAT32),
    /// Floats of 8 bits, integers of 4, and whatever comes.
    OTHER(0, OnnxTensorType.ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED, null, null);

    /// In `TensorProto.DataType`.
    private final int number;

    private final OnnxTensorType runtimes;

    /// As what a tensor of it is made; null: ONNX Runtime's Java can't.
    private final OnnxJavaType made;

    /// Holds every element of this type as it is; null: there is none.
    private final ElementType holder;

    OnnxType(int number, OnnxTensorType runtimes, OnnxJavaType made, ElementType holder) {
        this.number = number;
        this.runtimes = runtimes;
        this.made = made;
        this.holder = holder;
    }

    static OnnxType of(int number) {
        return Arrays.stream(values())
                .filter(type -> type.number == number)
                .findFirst()
                .orElse(OTHER);
    }

    static OnnxType of(OnnxTensorType runtimes) {
        return Arrays.stream(values())
                .filter(type -> type.runtimes == runtimes)
                .findFirst()
                .orElse(OTHER);
    }

    /// The one of the same name, which each type of tensors has.
    static OnnxType of(ElementType type) {
        return valueOf(type.name());
    }

    OnnxJavaType made() {
        return made;
    }

    /// The type of the tensors that an input of this type is given; nothing: there can be none.
    Optional<ElementType> takes() {
        return Optional.ofNullable(made == null ? null : holder);
    }

    /// The type of the tensors that an output of this type becomes; nothing: there is none.
    Optional<ElementType> gives() {
        return Optional.ofNullable(holder);
    }

    @Override
    public String toString() {
        return this == OTHER ? "another type" : name().toLowerCase(Locale.ROOT);
    }
}
