package dev.berth.http.protocol;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import dev.berth.content.TensorInputs;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.Tensor;
import dev.berth.memory.RequestMemory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// `InferTensorContents`: elements in the field of their type.
final class TypedContents {

  /// The fields by their numbers.
  private static final List<String> FIELDS =
      List.of(
          "none",
          "bool_contents",
          "int_contents",
          "int64_contents",
          "uint_contents",
          "uint64_contents",
          "fp32_contents",
          "fp64_contents",
          "bytes_contents");

  private static final int FIRST = 16;

  /// The only field that is there; 0 where there is none.
  private int field;

  private long[] wholes = new long[0];
  private double[] fractions = new double[0];
  private final List<byte[]> elements = new ArrayList<>();
  private int count;

  /// The field for elements of a type; FP16 has none.
  private static int field(Datatype datatype) {
    return switch (datatype) {
      case BOOL -> 1;
      case INT8, INT16, INT32 -> 2;
      case INT64 -> 3;
      case UINT8 -> 4;
      case FP16 -> 0;
      case FP32 -> 6;
      case FP64 -> 7;
      case BYTES -> 8;
    };
  }

  void read(CodedInputStream in, int tag) throws IOException {
    int number = WireFormat.getTagFieldNumber(tag);
    if (number < 1 || number >= FIELDS.size()) {
      in.skipField(tag);
      return;
    }
    if (field != 0 && field != number) {
      throw new BadInputException(
          "contents: found %s and %s, expected one of them"
              .formatted(FIELDS.get(field), FIELDS.get(number)));
    }
    field = number;
    switch (number) {
      case 1 -> Protobuf.repeated(in, tag, () -> add(in.readBool() ? 1 : 0));
      case 2 -> Protobuf.repeated(in, tag, () -> add(in.readInt32()));
      case 3 -> Protobuf.repeated(in, tag, () -> add(in.readInt64()));
      case 4 -> Protobuf.repeated(in, tag, () -> add(Integer.toUnsignedLong(in.readUInt32())));
      case 5 -> Protobuf.repeated(in, tag, () -> add(in.readUInt64()));
      case 6 -> Protobuf.repeated(in, tag, () -> add(in.readFloat()));
      case 7 -> Protobuf.repeated(in, tag, () -> add(in.readDouble()));
      default -> {
        var element = in.readByteArray();
        RequestMemory.charge(InferTensor.ELEMENT + element.length);
        elements.add(element);
        count++;
      }
    }
  }

  private void add(long value) {
    wholes = count < wholes.length ? wholes : Arrays.copyOf(wholes, more());
    wholes[count++] = value;
  }

  private void add(double value) {
    fractions = count < fractions.length ? fractions : Arrays.copyOf(fractions, more());
    fractions[count++] = value;
  }

  /// The old and the new one, and the tensor's own.
  private int more() {
    int more = Math.max(FIRST, 2 * count);
    RequestMemory.charge(3L * Long.BYTES * more);
    return more;
  }

  InferTensor tensor(
      String name, Datatype datatype, long[] shape, Optional<String> contentType, String place) {
    int size = InferTensor.size(shape, place);
    if ((field == 0 || field != field(datatype)) && (count > 0 || size > 0)) {
      throw new BadInputException(
          "%s.contents: found %s, expected %s for %s"
              .formatted(
                  place,
                  FIELDS.get(field),
                  field(datatype) == 0 ? "raw_input_contents" : FIELDS.get(field(datatype)),
                  datatype));
    }
    if (count != size) {
      throw new BadInputException(
          "%s.contents: found %d elements, expected %d for the shape %s"
              .formatted(place, count, size, Arrays.toString(shape)));
    }
    var lengths = Arrays.stream(shape).mapToInt(Math::toIntExact).toArray();
    if (datatype.type().isEmpty()) {
      return new InferTensor.Bytes(name, lengths, elements, contentType);
    }
    var type = datatype.type().get();
    var numbers =
        type.isFloating()
            ? Tensor.of(Arrays.copyOf(fractions, count), count)
            : Tensor.of(Arrays.copyOf(wholes, count), count);
    var typed = new TensorInputs(List.of(), List.of(type));
    return new InferTensor.Numbers(
        name, typed.converted(numbers, 0, place + ".contents").reshape(lengths));
  }

  static byte[] write(InferTensor tensor) {
    int field = field(tensor.datatype());
    return Protobuf.bytes(
        contents -> {
          switch (tensor) {
            case InferTensor.Bytes bytes -> {
              for (var element : bytes.elements()) {
                RequestMemory.charge(3L * element.length);
                contents.writeByteArray(field, element);
              }
            }
            case InferTensor.Numbers(_, var numbers) -> {
              RequestMemory.charge(32L * numbers.size());
              contents.writeByteArray(field, packed(tensor.datatype(), numbers));
            }
          }
        });
  }

  private static byte[] packed(Datatype datatype, Tensor numbers) {
    return Protobuf.bytes(
        packed -> {
          switch (datatype) {
            case FP32 -> {
              for (float value : numbers.floats()) {
                packed.writeFloatNoTag(value);
              }
            }
            case FP64 -> {
              for (double value : numbers.doubles()) {
                packed.writeDoubleNoTag(value);
              }
            }
            case BOOL, UINT8, INT8, INT16, INT32, INT64 -> {
              // Negative int32 are written as int64 too.
              for (long value : numbers.longs()) {
                packed.writeInt64NoTag(value);
              }
            }
            case FP16, BYTES ->
                throw new IllegalStateException(datatype + " has no packed contents");
          }
        });
  }
}
