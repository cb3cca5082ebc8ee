package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// NumPy's name for the type of an array's elements, such as `<f4`: a byte order, a kind and a size
/// in bytes.
///
/// @param element what the elements become: unsigned ones of 2 and 4 bytes take the next larger
///   signed type
/// @param bytes the size of one element in the file
record NpyType(String name, ElementType element, int bytes, ByteOrder order) {

    /// @param offset where the name stands, for messages
    /// @throws BadInputException where a tensor can't hold such elements
    static NpyType of(String name, int offset) {
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
            default ->
                throw new BadInputException("offset %d: found the type %s, expected %s"
                        .formatted(offset, Excerpt.quoted(name), expectedInsteadOf(code)));
        };
        // What names no order is in the writer's own: little-endian wherever NumPy is common.
        var order = name.startsWith(">") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        return new NpyType(name, element, code.charAt(1) - '0', order);
    }

    private static String expectedInsteadOf(String code) {
        return switch (code.isEmpty() ? ' ' : code.charAt(0)) {
            case 'O' -> "numbers: pickled objects are refused because they can run code";
            case 'S', 'a', 'U' -> "numbers: texts are refused";
            case 'M', 'm' -> "numbers: dates and durations are refused";
            case 'V' -> "numbers: structured arrays are refused";
            case 'c' -> "real numbers";
            default ->
                code.equals("u8")
                        ? "int64: no type of tensors holds all numbers of uint64"
                        : "bool, uint8, int8, int16, int32, int64, float16, float32, float64, uint16 or" + " uint32";
        };
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
