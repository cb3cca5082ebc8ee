package dev.berth.http.protocol;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.WireFormat;
import dev.berth.memory.RequestMemory;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;

/// What messages of protobuf have in common: messages inside of others, repeated numbers, and maps
/// of parameters.
final class Protobuf {

  private Protobuf() {}

  /// Reads one field, whose tag has been read.
  interface Field {
    void read(int tag) throws IOException;
  }

  interface Step {
    void run() throws IOException;
  }

  interface Writing {
    void to(CodedOutputStream message) throws IOException;
  }

  /// Runs something within the message that begins here.
  static void nested(CodedInputStream in, Step step) throws IOException {
    int before = in.pushLimit(in.readRawVarint32());
    step.run();
    in.checkLastTagWas(0);
    in.popLimit(before);
  }

  /// Reads the fields of the message that begins here.
  static void message(CodedInputStream in, Field field) throws IOException {
    nested(in, () -> fields(in, field));
  }

  /// Reads fields until the end.
  static void fields(CodedInputStream in, Field field) throws IOException {
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      field.read(tag);
    }
  }

  /// Reads numbers that may be packed: one, or all until the end of the field.
  static void repeated(CodedInputStream in, int tag, Step one) throws IOException {
    if (WireFormat.getTagWireType(tag) != WireFormat.WIRETYPE_LENGTH_DELIMITED) {
      one.run();
      return;
    }
    int before = in.pushLimit(in.readRawVarint32());
    while (in.getBytesUntilLimit() > 0) {
      one.run();
    }
    in.popLimit(before);
  }

  /// Reads an entry of a map of `InferParameter`.
  static void parameter(CodedInputStream in, Map<String, Object> parameters) throws IOException {
    var name = new String[] {""};
    var value = new Object[1];
    fields(
        in,
        tag -> {
          switch (WireFormat.getTagFieldNumber(tag)) {
            case 1 -> name[0] = in.readStringRequireUtf8();
            case 2 ->
                message(
                    in,
                    inner -> {
                      switch (WireFormat.getTagFieldNumber(inner)) {
                        case 1 -> value[0] = in.readBool();
                        case 2 -> value[0] = in.readInt64();
                        case 3 -> value[0] = in.readStringRequireUtf8();
                        case 4 -> value[0] = in.readDouble();
                        case 5 -> value[0] = in.readUInt64();
                        default -> in.skipField(inner);
                      }
                    });
            default -> in.skipField(tag);
          }
        });
    if (value[0] != null) {
      RequestMemory.charge(200);
      parameters.put(name[0], value[0]);
    }
  }

  /// An entry of a map of `InferParameter`.
  static byte[] textParameter(String name, String value) {
    return bytes(
        entry -> {
          entry.writeString(1, name);
          entry.writeByteArray(2, bytes(parameter -> parameter.writeString(3, value)));
        });
  }

  static void writeShape(int field, int[] shape, CodedOutputStream message) throws IOException {
    message.writeByteArray(
        field,
        bytes(
            packed -> {
              for (int length : shape) {
                packed.writeInt64NoTag(length);
              }
            }));
  }

  static byte[] bytes(Writing writing) {
    var bytes = new ByteArrayOutputStream();
    try {
      var message = CodedOutputStream.newInstance(bytes);
      writing.to(message);
      message.flush();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }
}
