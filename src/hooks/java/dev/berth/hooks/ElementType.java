package dev.berth.hooks;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// The type of a tensor's elements, under NumPy's and PyTorch's name for it.
public enum ElementType {
    /// One byte each: 0 is false, 1 is true.
    BOOL(1),
    UINT8(1),
    INT8(1),
    INT16(2),
    INT32(4),
    INT64(8),
    /// IEEE 754 binary16.
    FLOAT16(2),
    FLOAT32(4),
    FLOAT64(8),
    /// A text, which no bytes of a tensor hold: see [Tensor#texts].
    STRING(0);

    private final int bytes;

    ElementType(int bytes) {
        this.bytes = bytes;
    }

    /// The size of one element; 0 for a text.
    public int bytes() {
        return bytes;
    }

    /// Whether elements may have a fraction.
    public boolean isFloating() {
        return this == FLOAT16 || this == FLOAT32 || this == FLOAT64;
    }

    /// Whether a whole number is within the range of a type without fractions.
    public boolean holds(long value) {
        return switch (this) {
            case BOOL -> value == 0 || value == 1;
            case UINT8 -> value >= 0 && value <= 255;
            case INT8 -> value == (byte) value;
            case INT16 -> value == (short) value;
            case INT32 -> value == (int) value;
            case INT64 -> true;
            case FLOAT16, FLOAT32, FLOAT64, STRING -> throw new IllegalStateException(this + " has other elements");
        };
    }

    /// The type of this name, such as `float32`; nothing where there is none.
    public static Optional<ElementType> named(String name) {
        return Arrays.stream(values())
                .filter(type -> type.toString().equals(name))
                .findFirst();
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
