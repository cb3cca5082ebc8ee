package dev.berth.content;

import dev.berth.hooks.BadInputException;
import java.util.Arrays;

/// What an `.npy` file says about its data.
///
/// @param columnMajor whether the first index moves fastest ("Fortran order")
/// @param shape of a tensor that a buffer can hold
/// @param dataOffset where the elements begin in the file
record NpyHeader(NpyType type, boolean columnMajor, int[] shape, int dataOffset) {

  private static final int MAX_TENSOR_BYTES = Integer.MAX_VALUE - 8;

  /// Without elements a short file could promise billions of rows, each of which becomes a record.
  private static final int MAX_EMPTY_ROWS = 65_535;

  /// @throws BadInputException where a tensor of this shape would be too large
  NpyHeader {
    long bytes = type.element().bytes();
    for (int length : shape) {
      if (length == 0 && bytes > (long) MAX_EMPTY_ROWS * type.element().bytes()) {
        throw new BadInputException(
            "shape: found %s, expected at most %d rows without elements"
                .formatted(Excerpt.quoted(Arrays.toString(shape)), MAX_EMPTY_ROWS));
      }
      bytes *= length;
      if (bytes > MAX_TENSOR_BYTES) {
        throw new BadInputException(
            "shape: found %s of %s, expected a tensor of less than 2 GiB"
                .formatted(Excerpt.quoted(Arrays.toString(shape)), type.element()));
      }
    }
  }

  /// The number of elements.
  int size() {
    int size = 1;
    for (int length : shape) {
      size *= length;
    }
    return size;
  }

  /// How far each dimension's neighbours stand apart, in elements. Not for arrays without elements.
  int[] strides() {
    var strides = new int[shape.length];
    int stride = 1;
    for (int i = 0; i < shape.length; i++) {
      int axis = columnMajor ? i : shape.length - 1 - i;
      strides[axis] = stride;
      stride *= shape[axis];
    }
    return strides;
  }
}
