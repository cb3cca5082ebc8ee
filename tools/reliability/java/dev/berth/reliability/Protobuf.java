package dev.berth.reliability;

import java.io.ByteArrayOutputStream;

/// A message of protobuf, written field by field.
final class Protobuf {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    Protobuf number(int field, long value) {
        varint((long) field << 3);
        varint(value);
        return this;
    }

    Protobuf bytes(int field, byte[] value) {
        start(field, value.length);
        bytes.writeBytes(value);
        return this;
    }

    Protobuf text(int field, String value) {
        return bytes(field, Seeds.ascii(value));
    }

    Protobuf message(int field, Protobuf value) {
        return bytes(field, value.toBytes());
    }

    /// The tag and the length of a field, whose bytes come later or never.
    Protobuf start(int field, long length) {
        varint((long) field << 3 | 2);
        varint(length);
        return this;
    }

    byte[] toBytes() {
        return bytes.toByteArray();
    }

    private void varint(long value) {
        long left = value;
        for (; (left & ~0x7fL) != 0; left >>>= 7) {
            bytes.write((int) ((left & 0x7f) | 0x80));
        }
        bytes.write((int) left);
    }
}
