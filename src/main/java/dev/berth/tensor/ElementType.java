package dev.berth.tensor;

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
  FLOAT64(8);

  private final int bytes;

  ElementType(int bytes) {
    this.bytes = bytes;
  }

  /// The size of one element.
  public int bytes() {
    return bytes;
  }

  /// Whether elements may have a fraction.
  public boolean isFloating() {
    return this == FLOAT16 || this == FLOAT32 || this == FLOAT64;
  }

  /// The type of this name, such as `float32`; nothing where there is none.
  public static Optional<ElementType> named(String name) {
    return Arrays.stream(values()).filter(type -> type.toString().equals(name)).findFirst();
  }

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
