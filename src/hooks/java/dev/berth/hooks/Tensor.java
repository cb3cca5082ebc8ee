package dev.berth.hooks;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.IntStream;

/// Numbers of one type, or texts, in a shape, row by row: the last index moves fastest (C order). A
/// shape without dimensions is a scalar and has one element.
///
/// Numbers are little-endian bytes, as in NumPy's files and libtorch's memory, so neither has to be
/// converted.
public final class Tensor {

    private final ElementType type;
    private final int[] shape;
    private final int size;
    private final ByteBuffer data;

    /// The elements where they are texts; else empty.
    private final List<String> texts;

    private Tensor(ElementType type, ByteBuffer data, int[] shape) {
        this(type, data, List.of(), shape);
    }

    private Tensor(ElementType type, ByteBuffer data, List<String> texts, int[] shape) {
        this.type = Objects.requireNonNull(type, "type");
        this.shape = shape;
        this.size = size(shape);
        this.data = data;
        this.texts = texts;
        if (data.limit() != Math.multiplyExact(size, type.bytes())) {
            throw new IllegalArgumentException("data: found %d bytes, expected %d for %s"
                    .formatted(data.limit(), (long) size * type.bytes(), this));
        }
        if (texts.size() != (type == ElementType.STRING ? size : 0)) {
            throw new IllegalArgumentException(
                    "texts: found %d, expected %d for %s".formatted(texts.size(), size, this));
        }
    }

    /// A tensor over bytes that are little-endian already: what is left of `data`, which is not
    /// copied and must not be changed any more. The engine reads direct memory where it lies, so a
    /// model that writes into its inputs writes there.
    public static Tensor of(ElementType type, ByteBuffer data, int... shape) {
        return new Tensor(type, littleEndian(data.slice()), shape.clone());
    }

    public static Tensor of(float[] values, int... shape) {
        var data = allocate(values.length, ElementType.FLOAT32);
        data.asFloatBuffer().put(values);
        return new Tensor(ElementType.FLOAT32, data, shape.clone());
    }

    public static Tensor of(double[] values, int... shape) {
        var data = allocate(values.length, ElementType.FLOAT64);
        data.asDoubleBuffer().put(values);
        return new Tensor(ElementType.FLOAT64, data, shape.clone());
    }

    public static Tensor of(int[] values, int... shape) {
        var data = allocate(values.length, ElementType.INT32);
        data.asIntBuffer().put(values);
        return new Tensor(ElementType.INT32, data, shape.clone());
    }

    public static Tensor of(long[] values, int... shape) {
        var data = allocate(values.length, ElementType.INT64);
        data.asLongBuffer().put(values);
        return new Tensor(ElementType.INT64, data, shape.clone());
    }

    public static Tensor of(String[] texts, int... shape) {
        return ofTexts(List.of(texts), shape.clone());
    }

    private static Tensor ofTexts(List<String> texts, int[] shape) {
        return new Tensor(ElementType.STRING, allocate(0, ElementType.STRING), texts, shape);
    }

    /// Bytes from 0 to 255, such as pixels.
    public static Tensor ofUnsigned(byte[] values, int... shape) {
        return new Tensor(ElementType.UINT8, littleEndian(ByteBuffer.wrap(values.clone())), shape.clone());
    }

    public ElementType type() {
        return type;
    }

    /// The length of each dimension; empty for a scalar.
    public int[] shape() {
        return shape.clone();
    }

    /// The number of dimensions.
    public int rank() {
        return shape.length;
    }

    /// The number of elements.
    public int size() {
        return size;
    }

    /// The elements as little-endian bytes, read-only; none of texts.
    public ByteBuffer data() {
        return littleEndian(data.asReadOnlyBuffer());
    }

    /// A copy of the elements, rounded to float where they are wider.
    public float[] floats() {
        var values = new float[size];
        if (type == ElementType.FLOAT32) {
            data.asFloatBuffer().get(values);
        } else {
            for (int i = 0; i < size; i++) {
                values[i] = single(i);
            }
        }
        return values;
    }

    /// A copy of the elements.
    public double[] doubles() {
        return IntStream.range(0, size).mapToDouble(this::number).toArray();
    }

    /// A copy of the elements of a type without fractions.
    ///
    /// @throws IllegalStateException where they may have some
    public long[] longs() {
        if (type.isFloating()) {
            throw new IllegalStateException("found elements of type %s, expected whole numbers".formatted(type));
        }
        return IntStream.range(0, size).mapToLong(this::integer).toArray();
    }

    /// The elements of a tensor of texts.
    ///
    /// @throws IllegalStateException where they are numbers
    public List<String> texts() {
        if (type != ElementType.STRING) {
            throw new IllegalStateException("found elements of type %s, expected texts".formatted(type));
        }
        return texts;
    }

    /// The same numbers in another type, as Java's casts convert them. Fractions are rounded towards
    /// zero, what is beyond the ends of a type without fractions becomes its nearest end, and NaN 0.
    /// A whole number that does not fit keeps its lower bits. As booleans, all but 0 are true.
    ///
    /// @throws IllegalStateException from texts to numbers or back
    public Tensor as(ElementType other) {
        if (other == type) {
            return this;
        }
        if (type == ElementType.STRING || other == ElementType.STRING) {
            throw new IllegalStateException("found %s, expected %s".formatted(this, other));
        }
        var converted = allocate(size, other);
        for (int i = 0; i < size; i++) {
            int at = i * other.bytes();
            switch (other) {
                case FLOAT64 -> converted.putDouble(at, number(i));
                case FLOAT32 -> converted.putFloat(at, single(i));
                case FLOAT16 -> converted.putShort(at, Float.floatToFloat16(single(i)));
                case INT64 -> converted.putLong(at, integer(i));
                case INT32 -> converted.putInt(at, (int) within(i, Integer.MIN_VALUE, Integer.MAX_VALUE));
                case INT16 -> converted.putShort(at, (short) within(i, Short.MIN_VALUE, Short.MAX_VALUE));
                case INT8 -> converted.put(at, (byte) within(i, Byte.MIN_VALUE, Byte.MAX_VALUE));
                case UINT8 -> converted.put(at, (byte) within(i, 0, 0xff));
                case BOOL -> converted.put(at, (byte) (number(i) == 0 ? 0 : 1));
                case STRING -> throw new IllegalStateException("no number is a text");
            }
        }
        return new Tensor(other, converted, shape);
    }

    /// The same elements in another shape of as many; nothing is copied.
    public Tensor reshape(int... other) {
        return new Tensor(type, data, texts, other.clone());
    }

    /// Puts tensors of one type and shape behind each other along a new first dimension.
    ///
    /// @throws IllegalArgumentException where there are none, or they differ
    public static Tensor stack(List<Tensor> tensors) {
        return joined(tensors, tensor -> tensor.shape, tensors.size());
    }

    /// Puts tensors behind each other along their first dimension, which is all that may differ in their
    /// shapes. One alone is not copied.
    ///
    /// @throws IllegalArgumentException where there are none, or they differ
    /// @throws IllegalStateException for scalars
    public static Tensor concatenate(List<Tensor> tensors) {
        tensors.forEach(Tensor::rowShape);
        return tensors.size() == 1
                ? tensors.getFirst()
                : joined(
                        tensors,
                        Tensor::rowShape,
                        tensors.stream().mapToInt(tensor -> tensor.shape[0]).reduce(0, Math::addExact));
    }

    private static Tensor joined(List<Tensor> tensors, Function<Tensor, int[]> row, int rows) {
        if (tensors.isEmpty()) {
            throw new IllegalArgumentException("found no tensors, expected at least one");
        }
        var first = tensors.getFirst();
        var shape = row.apply(first);
        for (var tensor : tensors) {
            if (tensor.type != first.type || !Arrays.equals(row.apply(tensor), shape)) {
                throw new IllegalArgumentException(
                        "found %s beside %s, expected tensors of one kind".formatted(tensor, first));
            }
        }
        var whole = withRows(rows, shape);
        var data = littleEndian(ByteBuffer.allocate(Math.multiplyExact(size(whole), first.type.bytes())));
        tensors.forEach(tensor -> data.put(tensor.data()));
        var texts = tensors.stream().flatMap(tensor -> tensor.texts.stream()).toList();
        return new Tensor(first.type, data.flip(), texts, whole);
    }

    /// The parts along the first dimension, each with one dimension less; nothing is copied.
    ///
    /// @throws IllegalStateException for a scalar
    public List<Tensor> unstack() {
        var row = rowShape();
        return IntStream.range(0, shape[0]).mapToObj(i -> rows(i, i + 1, row)).toList();
    }

    /// Those from `from` to before `to` of the parts along the first dimension; nothing is copied.
    ///
    /// @throws IllegalStateException for a scalar
    public Tensor rows(int from, int to) {
        return rows(from, to, withRows(to - from, rowShape()));
    }

    private Tensor rows(int from, int to, int[] newShape) {
        int row = size / Math.max(1, shape[0]);
        int bytes = row * type.bytes();
        return type == ElementType.STRING
                ? ofTexts(texts.subList(from * row, to * row), newShape)
                : new Tensor(type, littleEndian(data.slice(from * bytes, (to - from) * bytes)), newShape);
    }

    private int[] rowShape() {
        if (shape.length == 0) {
            throw new IllegalStateException("found a scalar, expected a dimension to take apart");
        }
        return Arrays.copyOfRange(shape, 1, shape.length);
    }

    private static int[] withRows(int rows, int[] row) {
        return IntStream.concat(IntStream.of(rows), Arrays.stream(row)).toArray();
    }

    /// Whether `other` is a tensor of the same type and shape with the same bytes or texts.
    @Override
    public boolean equals(Object other) {
        return other instanceof Tensor tensor
                && tensor.type == type
                && Arrays.equals(tensor.shape, shape)
                && tensor.data.equals(data)
                && tensor.texts.equals(texts);
    }

    @Override
    public int hashCode() {
        return Objects.hash(type, Arrays.hashCode(shape), data, texts);
    }

    /// The type and the shape, such as `float32[1, 28, 28]`.
    @Override
    public String toString() {
        return type + Arrays.toString(shape);
    }

    private double number(int index) {
        int at = index * type.bytes();
        return switch (type) {
            case FLOAT64 -> data.getDouble(at);
            case FLOAT32 -> data.getFloat(at);
            case FLOAT16 -> Float.float16ToFloat(data.getShort(at));
            default -> integer(index);
        };
    }

    /// Rounded once: a double would round a long a first time.
    private float single(int index) {
        return type.isFloating() ? (float) number(index) : integer(index);
    }

    /// @param least of the type that it becomes
    /// @param most of that
    private long within(int index, int least, int most) {
        long value = integer(index);
        return type.isFloating() ? Math.clamp(value, least, most) : value;
    }

    private long integer(int index) {
        int at = index * type.bytes();
        return switch (type) {
            case INT64 -> data.getLong(at);
            case INT32 -> data.getInt(at);
            case INT16 -> data.getShort(at);
            case INT8 -> data.get(at);
            case UINT8, BOOL -> data.get(at) & 0xff;
            case FLOAT16, FLOAT32, FLOAT64 -> (long) number(index);
            case STRING -> throw new IllegalStateException("found elements of type string, expected numbers");
        };
    }

    private static int size(int[] shape) {
        int size = 1;
        for (int length : shape) {
            if (length < 0) {
                throw new IllegalArgumentException(
                        "shape: found %s, expected no negative length".formatted(Arrays.toString(shape)));
            }
            size = Math.multiplyExact(size, length);
        }
        return size;
    }

    private static ByteBuffer allocate(int count, ElementType type) {
        return littleEndian(ByteBuffer.allocate(Math.multiplyExact(count, type.bytes())));
    }

    private static ByteBuffer littleEndian(ByteBuffer buffer) {
        return buffer.order(ByteOrder.LITTLE_ENDIAN);
    }
}
