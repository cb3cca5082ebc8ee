package dev.berth.openinference;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.POJONode;
import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.UnsafeByteOperations;
import com.google.protobuf.WireFormat;
import dev.berth.error.ErrorType;
import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.io.IOException;

/// Messages of protobuf as JSON with the names of their fields, which HTTP has for the most part. All
/// but the edge of gRPC knows this JSON alone.
///
/// It has the fields that are there, and lists and texts that are empty. A map is an object, an enum
/// is its name, and bytes are a [ByteString] that no text is made of.
final class MessageTree {

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    private MessageTree() {}

    /// Counts each value before it is made: two bytes may become an object.
    ///
    /// @param bytes of which the tree keeps parts
    /// @throws dev.berth.error.ServingException `BAD_INPUT` where they are another message
    static ObjectNode read(Descriptor type, byte[] bytes) throws IOException {
        var in = UnsafeByteOperations.unsafeWrap(bytes).newCodedInput();
        in.enableAliasing(true);
        try {
            var tree = fields(in, type);
            in.checkLastTagWas(0);
            return tree;
        } catch (InvalidProtocolBufferException e) {
            throw ErrorType.BAD_INPUT.because("message: not a %s: %s".formatted(type.getName(), e.getMessage()), e);
        }
    }

    private static ObjectNode fields(CodedInputStream in, Descriptor type) throws IOException {
        RequestMemory.charge(HeapSize.OBJECT + HeapSize.FIELD * type.getFields().size());
        var tree = NODES.objectNode();
        for (var field : type.getFields()) {
            if (field.isRepeated() && !field.isMapField()) {
                tree.putArray(field.getName());
            } else if (field.getType() == FieldDescriptor.Type.STRING && !field.hasPresence()) {
                tree.put(field.getName(), "");
            }
        }
        for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
            var field = type.findFieldByNumber(WireFormat.getTagFieldNumber(tag));
            int wire = WireFormat.getTagWireType(tag);
            if (field != null && field.isPackable() && wire == WireFormat.WIRETYPE_LENGTH_DELIMITED) {
                var list = tree.withArrayProperty(field.getName());
                int limit = in.pushLimit(in.readRawVarint32());
                while (in.getBytesUntilLimit() > 0) {
                    list.add(value(in, field));
                }
                in.popLimit(limit);
            } else if (field == null || wire != field.getLiteType().getWireType()) {
                if (!in.skipField(tag)) {
                    return tree;
                }
            } else if (field.isMapField()) {
                var entry = value(in, field);
                // One of several types.
                entry.path("value")
                        .forEach(value -> tree.withObjectProperty(field.getName())
                                .set(entry.path("key").asText(), value));
            } else if (field.isRepeated()) {
                tree.withArrayProperty(field.getName()).add(value(in, field));
            } else {
                tree.set(field.getName(), value(in, field));
            }
        }
        return tree;
    }

    private static JsonNode value(CodedInputStream in, FieldDescriptor field) throws IOException {
        RequestMemory.charge(HeapSize.VALUE);
        return switch (field.getType()) {
            case MESSAGE -> {
                int limit = in.pushLimit(in.readRawVarint32());
                var message = fields(in, field.getMessageType());
                in.checkLastTagWas(0);
                in.popLimit(limit);
                yield message;
            }
            case BYTES -> NODES.pojoNode(in.readBytes());
            case STRING -> NODES.textNode(text(in.readBytes()));
            case BOOL -> NODES.booleanNode(in.readBool());
            case FLOAT -> NODES.numberNode(in.readFloat());
            case DOUBLE -> NODES.numberNode(in.readDouble());
            case INT32 -> NODES.numberNode(in.readInt32());
            case UINT32 -> NODES.numberNode(Integer.toUnsignedLong(in.readUInt32()));
            case INT64, UINT64 -> NODES.numberNode(in.readInt64());
            default -> throw new IllegalStateException(field + " is in no request");
        };
    }

    private static String text(ByteString bytes) throws IOException {
        RequestMemory.charge(HeapSize.CHARACTER * bytes.size());
        if (!bytes.isValidUtf8()) {
            throw new InvalidProtocolBufferException("found a text that is not UTF-8");
        }
        return bytes.toStringUtf8();
    }

    /// @param tree with fields of the message by their names
    static Message message(Descriptor type, JsonNode tree) {
        var message = DynamicMessage.newBuilder(type);
        tree.properties().forEach(property -> {
            var field = type.findFieldByName(property.getKey());
            if (property.getValue() instanceof ArrayNode list) {
                list.forEach(value -> message.addRepeatedField(field, value(field, value)));
            } else {
                message.setField(field, value(field, property.getValue()));
            }
        });
        return message.build();
    }

    private static Object value(FieldDescriptor field, JsonNode value) {
        return switch (field.getJavaType()) {
            case MESSAGE -> message(field.getMessageType(), value);
            case ENUM -> field.getEnumType().findValueByName(value.textValue());
            case BYTE_STRING -> bytes(value);
            case STRING -> value.textValue();
            case BOOLEAN -> value.booleanValue();
            case INT -> value.intValue();
            case LONG -> value.longValue();
            case FLOAT -> value.floatValue();
            case DOUBLE -> value.doubleValue();
        };
    }

    /// Those of a text are its UTF-8.
    static ByteString bytes(JsonNode value) {
        if (value instanceof POJONode node) {
            return (ByteString) node.getPojo();
        }
        RequestMemory.charge(3L * value.textValue().length());
        return ByteString.copyFromUtf8(value.textValue());
    }
}
