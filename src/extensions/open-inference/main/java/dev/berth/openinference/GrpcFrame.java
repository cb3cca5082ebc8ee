package dev.berth.openinference;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.MessageLite;
import dev.berth.hooks.MediaType;
import dev.berth.memory.RequestMemory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

/// A message as gRPC sends it over HTTP/2: a byte that says whether it is compressed, its length in
/// 4 bytes, big-endian, and the message.
public final class GrpcFrame {

    /// The type of requests and answers.
    public static final MediaType TYPE = MediaType.parse("application/grpc").orElseThrow();

    private static final int PREFIX = 1 + Integer.BYTES;

    private GrpcFrame() {}

    public static byte[] of(MessageLite message) {
        int length = message.getSerializedSize();
        RequestMemory.charge(PREFIX + length);
        var body = ByteBuffer.allocate(PREFIX + length).put((byte) 0).putInt(length);
        try {
            message.writeTo(CodedOutputStream.newInstance(body.array(), PREFIX, length));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return body.array();
    }
}
