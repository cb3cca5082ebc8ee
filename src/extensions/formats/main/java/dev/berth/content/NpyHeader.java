package dev.berth.content;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import dev.berth.memory.RequestMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/// What an `.npy` file says about its data.
///
/// @param columnMajor whether the first index moves fastest ("Fortran order")
/// @param shape of a tensor that a buffer can hold
/// @param dataOffset where the elements begin in the file
record NpyHeader(Type type, boolean columnMajor, int[] shape, int dataOffset) {

    /// NumPy's own limit.
    static final int MAX_RANK = 64;

    private static final int MAX_TENSOR_BYTES = Integer.MAX_VALUE - 8;

    /// Without elements a short file could promise billions of rows, each of which becomes a record.
    private static final int MAX_EMPTY_ROWS = 65_535;

    /// No file has one, and NumPy refuses it.
    private static final Pattern SHAPE_AS_LIST = Pattern.compile("shape['\"]\\s*+:\\s*+\\[");

    private static final List<String> KEYS = List.of("descr", "fortran_order", "shape");

    /// NumPy's name for the type of an array's elements, such as `<f4`: a byte order, a kind and a size
    /// in bytes.
    ///
    /// @param element what the elements become: unsigned ones of 2 and 4 bytes take the next larger
    ///   signed type
    /// @param bytes the size of one element in the file
    record Type(String name, ElementType element, int bytes, ByteOrder order) {

        private static Type of(String name) {
            var code = name.matches("[<>|=].*") ? name.substring(1) : name;
            var element = switch (code) {
                case "b1" -> ElementType.BOOL;
                case "u1" -> ElementType.UINT8;
                case "i1" -> ElementType.INT8;
                case "i2" -> ElementType.INT16;
                case "u2", "i4" -> ElementType.INT32;
                case "u4", "i8" -> ElementType.INT64;
                case "f2" -> ElementType.FLOAT16;
                case "f4" -> ElementType.FLOAT32;
                case "f8" -> ElementType.FLOAT64;
                case "O" -> throw bad("descr", name, "numbers: pickled objects are refused because they can run code");
                default ->
                    throw bad(
                            "descr",
                            name,
                            "bool, uint8, int8, int16, int32, int64, float16, float32, float64, uint16 or uint32");
            };
            // What names no order is in the writer's own: little-endian wherever NumPy is common.
            var order = name.startsWith(">") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
            return new Type(name, element, code.charAt(1) - '0', order);
        }

        /// Whether elements in the file are as tensors hold them.
        boolean isPlain() {
            return bytes == element.bytes() && (bytes == 1 || order == ByteOrder.LITTLE_ENDIAN);
        }

        /// Puts the element that stands at the byte `at` behind the last one.
        ///
        /// @param from in the order of this type
        /// @param to little-endian
        void copy(ByteBuffer from, int at, ByteBuffer to) {
            long value = switch (bytes) {
                case 1 -> from.get(at);
                case 2 -> Short.toUnsignedInt(from.getShort(at));
                case 4 -> Integer.toUnsignedLong(from.getInt(at));
                default -> from.getLong(at);
            };
            switch (element.bytes()) {
                case 1 -> to.put((byte) value);
                case 2 -> to.putShort((short) value);
                case 4 -> to.putInt((int) value);
                default -> to.putLong(value);
            }
        }
    }

    /// @throws BadInputException where a tensor of this shape would be too large
    NpyHeader {
        long bytes = type.element().bytes();
        for (int length : shape) {
            if (length == 0 && bytes > (long) MAX_EMPTY_ROWS * type.element().bytes()) {
                throw bad(
                        "shape", Arrays.toString(shape), "at most %d rows without elements".formatted(MAX_EMPTY_ROWS));
            }
            bytes *= length;
            if (bytes > MAX_TENSOR_BYTES) {
                throw bad("shape", Arrays.toString(shape), "a tensor of less than 2 GiB");
            }
        }
    }

    int size() {
        return IntStream.of(shape).reduce(1, (size, length) -> size * length);
    }

    /// The elements row by row and little-endian, copied where they stand otherwise.
    ByteBuffer rowByRow(ByteBuffer source) {
        boolean isOneRow = !columnMajor || shape.length < 2;
        if ((isOneRow && type.isPlain()) || size() == 0) {
            return source;
        }
        RequestMemory.charge((long) size() * type.element.bytes());
        var data = ByteBuffer.allocate(size() * type.element.bytes()).order(ByteOrder.LITTLE_ENDIAN);
        source.order(type.order);
        if (shape.length == 0) {
            type.copy(source, 0, data);
        } else {
            copy(source, 0, 0, columnMajor ? 1 : size(), data);
        }
        return data.flip();
    }

    /// @param axis whose elements are copied, with those of the axes behind it
    /// @param from the first of them
    /// @param block in column-major order how far neighbours on the axis are apart, else how many
    ///   elements are copied
    private void copy(ByteBuffer source, int axis, int from, int block, ByteBuffer data) {
        int apart = columnMajor ? block : block / shape[axis];
        int next = columnMajor ? block * shape[axis] : apart;
        for (int i = 0; i < shape[axis]; i++) {
            if (axis == shape.length - 1) {
                type.copy(source, (from + i * apart) * type.bytes, data);
            } else {
                copy(source, axis + 1, from + i * apart, next, data);
            }
        }
    }

    /// Reads a Python dictionary such as `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`,
    /// which is JSON but for its quotes, its tuple, the names of its constants and a comma at the end.
    /// `(3)` is a number, and Python 2 wrote long ones as `3L`.
    static NpyHeader read(String text, int dataOffset) {
        var json = text.replace('\'', '"')
                .replaceAll("\\((\\s*+\\d++L?+\\s*+)\\)", "$1")
                .replace('(', '[')
                .replace(')', ']')
                .replace("True", "true")
                .replace("False", "false")
                .replaceAll("(\\d)L", "$1")
                .replaceAll(",(\\s*+[\\]}])", "$1");
        try {
            var fields = Fields.of(JsonText.payload(json), "header", KEYS);
            var type = fields.json("descr");
            if (!type.isTextual()) {
                throw fields.bad("descr", "one type of numbers for all elements, such as '<f4'");
            }
            if (SHAPE_AS_LIST.matcher(text).find()) {
                throw fields.bad("shape", "a tuple");
            }
            return new NpyHeader(
                    Type.of(type.textValue()),
                    fields.bool("fortran_order").orElseThrow(() -> fields.bad("fortran_order", "True or False")),
                    shape(fields.json("shape")),
                    dataOffset);
        } catch (NotJsonException e) {
            throw new BadInputException(
                    "header: found %s, expected one such as {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"
                            .formatted(Excerpt.quoted(text.strip())),
                    e);
        }
    }

    private static int[] shape(JsonNode lengths) {
        if (!lengths.isArray()
                || lengths.size() > MAX_RANK
                || lengths.valueStream().anyMatch(length -> !length.isInt() || length.intValue() < 0)) {
            throw bad(
                    "shape",
                    lengths.toString(),
                    "a tuple of at most %d lengths, none above %d".formatted(MAX_RANK, Integer.MAX_VALUE));
        }
        return lengths.valueStream().mapToInt(JsonNode::intValue).toArray();
    }

    private static BadInputException bad(String key, String found, String expected) {
        return new BadInputException(
                "header.%s: found %s, expected %s".formatted(key, Excerpt.quoted(found), expected));
    }
}
