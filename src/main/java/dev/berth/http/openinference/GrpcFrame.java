package dev.berth.http.openinference;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.MessageLite;
import dev.berth.hooks.BadInputException;
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

  static final int PREFIX = 1 + Integer.BYTES;

  private GrpcFrame() {}

  /// The only message of a body.
  static ByteBuffer message(byte[] body) {
    if (body.length < PREFIX) {
      throw new BadInputException(
          "body: found %d bytes, expected a message behind the %d of its prefix"
              .formatted(body.length, PREFIX));
    }
    var frame = ByteBuffer.wrap(body);
    if (frame.get() != 0) {
      throw new BadInputException("body: found a compressed message, expected one that is not");
    }
    int length = frame.getInt();
    if (length != frame.remaining()) {
      throw new BadInputException(
          "body: found %d bytes behind the prefix, expected one message of %d"
              .formatted(frame.remaining(), Integer.toUnsignedLong(length)));
    }
    return frame;
  }

  static byte[] of(MessageLite message) {
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
