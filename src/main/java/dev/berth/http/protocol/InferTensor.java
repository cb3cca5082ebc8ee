package dev.berth.http.protocol;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import dev.berth.memory.RequestMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// A named tensor of a request or an answer.
sealed interface InferTensor {

  /// What an element of BYTES costs beside its bytes.
  int ELEMENT = 40;

  String name();

  Datatype datatype();

  int[] shape();

  /// What the elements are, such as `image/png`: the parameter `content_type`.
  Optional<String> contentType();

  /// The elements as the protocol has them outside of JSON and of typed contents: little-endian,
  /// and each of BYTES behind its length in 4 bytes.
  List<ByteBuffer> raw();

  /// Numbers.
  record Numbers(String name, Tensor tensor) implements InferTensor {

    @Override
    public Datatype datatype() {
      return Datatype.of(Optional.of(tensor.type()));
    }

    @Override
    public int[] shape() {
      return tensor.shape();
    }

    @Override
    public Optional<String> contentType() {
      return Optional.empty();
    }

    @Override
    public List<ByteBuffer> raw() {
      return List.of(tensor.data());
    }
  }

  /// Texts or bytes.
  record Bytes(String name, int[] shape, List<byte[]> elements, Optional<String> contentType)
      implements InferTensor {

    @Override
    public Datatype datatype() {
      return Datatype.BYTES;
    }

    @Override
    public List<ByteBuffer> raw() {
      var parts = new ArrayList<ByteBuffer>(2 * elements.size());
      for (var element : elements) {
        parts.add(
            ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(0, element.length));
        parts.add(ByteBuffer.wrap(element));
      }
      return parts;
    }
  }

  /// The number of elements of a shape.
  ///
  /// @param place what messages call the tensor
  static int size(long[] shape, String place) {
    long size = 1;
    for (long length : shape) {
      // As long as no length is 0, each step only grows.
      if (length < 0 || length > Integer.MAX_VALUE || (size *= length) > Integer.MAX_VALUE) {
        throw new BadInputException(
            "%s.shape: found %s, expected lengths of at least 0 and at most %d elements"
                .formatted(place, Arrays.toString(shape), Integer.MAX_VALUE));
      }
    }
    return (int) size;
  }

  /// Reads elements as [#raw] writes them.
  static InferTensor ofRaw(
      String name,
      Datatype datatype,
      long[] shape,
      ByteBuffer raw,
      Optional<String> contentType,
      String place) {
    int size = size(shape, place);
    var lengths = Arrays.stream(shape).mapToInt(Math::toIntExact).toArray();
    if (datatype.type().isEmpty()) {
      return new Bytes(
          name, lengths, elements(raw.order(ByteOrder.LITTLE_ENDIAN), size, place), contentType);
    }
    var type = datatype.type().get();
    if (raw.remaining() != (long) size * type.bytes()) {
      throw new BadInputException(
          "%s: found %d bytes, expected %d for %s%s"
              .formatted(
                  place,
                  raw.remaining(),
                  (long) size * type.bytes(),
                  datatype,
                  Arrays.toString(shape)));
    }
    if (type == ElementType.BOOL) {
      requireBooleans(raw, place);
    }
    return new Numbers(name, Tensor.of(type, raw, lengths));
  }

  private static void requireBooleans(ByteBuffer raw, String place) {
    for (int i = raw.position(); i < raw.limit(); i++) {
      if ((raw.get(i) & 0xfe) != 0) {
        throw new BadInputException(
            "%s: found the byte %d as element %d, expected 0 or 1 for BOOL"
                .formatted(place, raw.get(i) & 0xff, i - raw.position()));
      }
    }
  }

  private static List<byte[]> elements(ByteBuffer raw, int size, String place) {
    var elements = new ArrayList<byte[]>();
    while (raw.remaining() >= Integer.BYTES && elements.size() < size) {
      int length = raw.getInt();
      if (length < 0 || length > raw.remaining()) {
        throw new BadInputException(
            "%s: found %d as the length of element %d, expected at most the %d bytes that are left"
                .formatted(
                    place, Integer.toUnsignedLong(length), elements.size(), raw.remaining()));
      }
      RequestMemory.charge(ELEMENT + length);
      var element = new byte[length];
      raw.get(element);
      elements.add(element);
    }
    if (elements.size() != size || raw.hasRemaining()) {
      throw new BadInputException(
          "%s: found %d elements and %d bytes behind them, expected %d elements of BYTES"
              .formatted(place, elements.size(), raw.remaining(), size));
    }
    return elements;
  }
}
