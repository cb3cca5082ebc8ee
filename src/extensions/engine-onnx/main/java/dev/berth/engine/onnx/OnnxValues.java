package dev.berth.engine.onnx;

import ai.onnxruntime.NodeInfo;
import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxMap;
import ai.onnxruntime.OnnxSequence;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OnnxValue;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtUtil;
import ai.onnxruntime.SequenceInfo;
import ai.onnxruntime.TensorInfo;
import dev.berth.engine.EngineException;
import dev.berth.engine.InvalidInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import dev.berth.memory.HeapRoom;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// Copies tensors into the engine and out of it.
final class OnnxValues {

    private OnnxValues() {}

    record Input(String name, OnnxType type) {

        /// @throws EngineException when no tensor can be given to it
        static Input of(NodeInfo node) {
            var type = node.getInfo() instanceof TensorInfo tensor ? OnnxType.of(tensor.onnxType) : OnnxType.OTHER;
            if (type.takes().isEmpty()) {
                throw new EngineException(
                        "its input %s takes %s, expected texts, or numbers of a type up to float64 or int64; convert them before the model, and export it without"
                                .formatted(node.getName(), type == OnnxType.OTHER ? described(node) : "a " + type));
            }
            return new Input(node.getName(), type);
        }

        /// The same elements in the input's type, where that holds them.
        ///
        /// @throws InvalidInputException when they are of another kind
        private Tensor fitting(Tensor tensor) {
            var expected = type.takes().orElseThrow();
            boolean fits = tensor.type() == expected
                    || (expected.isFloating()
                            ? tensor.type().isFloating()
                            : isWhole(tensor.type())
                                    && isWhole(expected)
                                    && Arrays.stream(tensor.longs()).allMatch(expected::holds));
            if (!fits) {
                throw new InvalidInputException(
                        "the model's input %s takes %s, found %s".formatted(name, expected, tensor), null);
            }
            return tensor.as(expected);
        }

        private static boolean isWhole(ElementType type) {
            return !type.isFloating() && type != ElementType.STRING;
        }
    }

    /// Checks that an output can be read.
    ///
    /// @throws EngineException when it can't
    static void checkOutput(NodeInfo node) {
        boolean isReadable = switch (node.getInfo()) {
            case TensorInfo tensor -> OnnxType.of(tensor.onnxType).gives().isPresent();
            case SequenceInfo sequence -> isOfScores(sequence);
            default -> false;
        };
        if (!isReadable) {
            throw new EngineException(
                    "its output %s is %s, expected a tensor of numbers or texts; export it without that output, or with those in it"
                            .formatted(node.getName(), described(node)));
        }
    }

    private static String described(NodeInfo node) {
        return switch (node.getInfo()) {
            case TensorInfo tensor -> "a tensor of " + OnnxType.of(tensor.onnxType);
            case SequenceInfo sequence -> sequence.isSequenceOfMaps() ? "a list of maps" : "a list";
            default -> "no tensor";
        };
    }

    /// A label's score by label for each row, which is what ZipMap of scikit-learn's converters
    /// makes.
    private static boolean isOfScores(SequenceInfo sequence) {
        return sequence.isSequenceOfMaps()
                && sequence.mapInfo.valueType == OnnxJavaType.FLOAT
                && (sequence.mapInfo.keyType == OnnxJavaType.INT64 || sequence.mapInfo.keyType == OnnxJavaType.STRING);
    }

    /// The caller closes it, after the last forward that reads it.
    ///
    /// @throws InvalidInputException when the input does not take it
    static OnnxTensor in(Tensor tensor, Input input, OrtEnvironment environment) throws OrtException {
        return in(input.fitting(tensor), input.type(), environment);
    }

    static OnnxTensor in(Tensor tensor, OrtEnvironment environment) throws OrtException {
        return in(tensor, OnnxType.of(tensor.type()), environment);
    }

    private static OnnxTensor in(Tensor tensor, OnnxType type, OrtEnvironment environment) throws OrtException {
        var shape = Arrays.stream(tensor.shape()).asLongStream().toArray();
        if (type == OnnxType.STRING) {
            return OnnxTensor.createTensor(environment, texts(tensor), shape);
        }
        var data = type == OnnxType.BFLOAT16 ? bfloats(tensor) : tensor.data();
        // What is direct is not copied once more by the engine.
        var direct = data.isDirect()
                ? data
                : ByteBuffer.allocateDirect(data.remaining()).put(data).flip();
        return OnnxTensor.createTensor(environment, direct.order(ByteOrder.nativeOrder()), shape, type.made());
    }

    /// ONNX Runtime's Java hands texts over in the JVM's own UTF-8, which has other bytes for U+0000
    /// and for what is beyond U+FFFF. A model would not find those in its vocabulary.
    ///
    /// @throws InvalidInputException when the model would be given another text
    private static String[] texts(Tensor tensor) {
        for (var text : tensor.texts()) {
            if (text.chars().anyMatch(c -> c == 0 || Character.isSurrogate((char) c))) {
                throw new InvalidInputException(
                        "found a text with U+0000 or a character beyond U+FFFF, such as an emoji, which ONNX Runtime's Java changes; leave it out",
                        null);
            }
        }
        return tensor.texts().toArray(String[]::new);
    }

    /// The upper halves of floats, rounded to even.
    private static ByteBuffer bfloats(Tensor tensor) {
        var values = tensor.floats();
        var data = ByteBuffer.allocateDirect(values.length * Short.BYTES).order(ByteOrder.nativeOrder());
        for (float value : values) {
            int bits = Float.floatToIntBits(value);
            data.putShort((short) ((Float.isNaN(value) ? bits : bits + 0x7fff + (bits >>> 16 & 1)) >>> 16));
        }
        return data.flip();
    }

    /// @throws EngineException when no tensor holds what it is
    static Tensor out(OnnxValue value) throws OrtException {
        return switch (value) {
            case OnnxTensor tensor -> copy(tensor);
            case OnnxSequence sequence when isOfScores(sequence.getInfo()) -> scores(sequence);
            default ->
                throw new EngineException(
                        "the model returned %s, expected a tensor of numbers or texts".formatted(value.getType()));
        };
    }

    private static Tensor copy(OnnxTensor tensor) throws OrtException {
        var info = tensor.getInfo();
        var type = OnnxType.of(info.onnxType);
        var holder = type.gives()
                .orElseThrow(() -> new EngineException(
                        "the model returned a tensor of %s, expected numbers or texts".formatted(type)));
        var shape = Arrays.stream(info.getShape()).mapToInt(Math::toIntExact).toArray();
        HeapRoom.require(info.getNumElements() * (info.type.size + holder.bytes()));
        if (type == OnnxType.STRING) {
            var value = tensor.getValue();
            return Tensor.of(value instanceof String text ? new String[] {text} : OrtUtil.flattenString(value), shape);
        }
        var bytes = info.getNumElements() == 0
                ? ByteBuffer.allocate(0)
                : tensor.getByteBuffer().order(ByteOrder.nativeOrder());
        return Tensor.of(
                holder, type.name().equals(holder.name()) ? bytes : widened(bytes, type, info.type.size), shape);
    }

    /// The numbers of a type that tensors do not have, in the one that holds them.
    private static ByteBuffer widened(ByteBuffer bytes, OnnxType type, int size) {
        int count = bytes.remaining() / size;
        var wide = ByteBuffer.allocate(count * Long.BYTES).order(ByteOrder.nativeOrder());
        for (int at = 0; at < count * size; at += size) {
            switch (type) {
                case BFLOAT16 -> wide.putInt(bytes.getShort(at) << 16);
                case UINT16 -> wide.putInt(bytes.getShort(at) & 0xffff);
                case UINT32 -> wide.putLong(bytes.getInt(at) & 0xffffffffL);
                default -> wide.putLong(ofUint64(bytes.getLong(at)));
            }
        }
        return wide.flip();
    }

    private static long ofUint64(long value) {
        if (value < 0) {
            throw new EngineException(
                    "the model returned uint64 beyond the range of int64, expected numbers of a type up to float64 or int64");
        }
        return value;
    }

    /// A row for each map, with the scores in the order of the labels.
    private static Tensor scores(OnnxSequence sequence) throws OrtException {
        var rows = new ArrayList<Map<Object, Object>>();
        for (var value : sequence.getValue()) {
            try (value) {
                rows.add(new TreeMap<>(((OnnxMap) value).getValue()));
            }
        }
        var labels = rows.isEmpty() ? List.of() : List.copyOf(rows.getFirst().keySet());
        var scores = new float[rows.size() * labels.size()];
        for (int i = 0; i < scores.length; i++) {
            scores[i] = Optional.ofNullable((Float) rows.get(i / labels.size()).get(labels.get(i % labels.size())))
                    .orElse(0f);
        }
        return Tensor.of(scores, rows.size(), labels.size());
    }

    /// What the elements take in the engine's memory.
    static long bytes(OnnxTensor tensor) {
        return tensor.getInfo().getNumElements() * tensor.getInfo().type.size;
    }
}
