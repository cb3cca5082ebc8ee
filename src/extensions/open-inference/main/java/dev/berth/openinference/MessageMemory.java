package dev.berth.openinference;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.WireFormat;
import dev.berth.memory.RequestMemory;
import java.io.IOException;

/// Counts what a message of protobuf becomes before its classes make that of it: two bytes may
/// become an object.
final class MessageMemory {

    /// An unknown field is kept, with a list for each kind of value.
    private static final int UNKNOWN = 200;

    private static final int OBJECT = 64;
    private static final int NUMBER = 32;

    private MessageMemory() {}

    static void charge(CodedInputStream in, Descriptor message) throws IOException {
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            var field = message.findFieldByNumber(WireFormat.getTagFieldNumber(tag));
            if (field == null || WireFormat.getTagWireType(tag) != WireFormat.WIRETYPE_LENGTH_DELIMITED) {
                RequestMemory.charge(field == null ? UNKNOWN : NUMBER);
                in.skipField(tag);
                continue;
            }
            int length = in.readRawVarint32();
            long each = switch (field.getJavaType()) {
                // Bytes are parts of the body, and the fields of a message are counted themselves.
                case MESSAGE, BYTE_STRING -> 0;
                case STRING, FLOAT, DOUBLE -> 3;
                // A byte may be a number of 8, in a list that has grown from one half as long.
                case BOOLEAN, INT, LONG, ENUM -> 20;
            };
            RequestMemory.charge(OBJECT + each * length);
            int limit = in.pushLimit(length);
            switch (field.getJavaType()) {
                case MESSAGE -> charge(in, field.getMessageType());
                default -> in.skipRawBytes(length);
            }
            in.popLimit(limit);
        }
    }
}
