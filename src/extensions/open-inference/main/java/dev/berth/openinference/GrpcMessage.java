package dev.berth.openinference;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.http.body.BlockStream;
import dev.berth.http.body.Inflated;
import dev.berth.memory.RequestMemory;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;

/// A message in the body of a call, inflated where it is compressed. Used by one thread at a time.
final class GrpcMessage extends BlockStream {

    /// In front of a message: a byte that says whether it is compressed, and its length in 4 bytes,
    /// big-endian (`PROTOCOL-HTTP2.md` of gRPC).
    static final int PREFIX = 1 + Integer.BYTES;

    private final InputStream body;
    private final String coding;
    private final boolean isOnly;
    private final RequestMemory memory;

    /// Null before the prefix is read.
    private InputStream in;

    /// How many bytes of it have not been read.
    private long left;

    /// @param coding the value of `grpc-encoding`
    /// @param isOnly whether nothing may come behind it
    /// @param memory of the request
    GrpcMessage(InputStream body, String coding, boolean isOnly, RequestMemory memory) {
        this.body = body;
        this.coding = coding;
        this.isOnly = isOnly;
        this.memory = memory;
    }

    /// @throws ServingException `BAD_INPUT` where it is not whole
    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        open();
        return in.read(bytes, offset, length);
    }

    /// Reads what is left of it and throws it away, as it is.
    void skip() throws IOException {
        open();
        new Framed().transferTo(OutputStream.nullOutputStream());
    }

    private void open() throws IOException {
        if (in != null) {
            return;
        }
        var prefix = ByteBuffer.wrap(body.readNBytes(PREFIX));
        if (prefix.limit() < PREFIX) {
            throw ErrorType.BAD_INPUT.because("body: found %d bytes, expected a message behind the %d of its prefix"
                    .formatted(prefix.limit(), PREFIX));
        }
        boolean isCompressed = prefix.get() != 0;
        if (isCompressed && !Inflated.CODINGS.contains(coding)) {
            throw ErrorType.BAD_INPUT.because(
                    "body: found a compressed message, expected one that is not, as grpc-encoding says");
        }
        left = Integer.toUnsignedLong(prefix.getInt());
        in = isCompressed ? new Inflated(new Framed(), coding, "grpc-encoding", memory) : new Framed();
    }

    @Override
    public void close() throws IOException {
        if (in != null) {
            in.close();
        }
    }

    /// The bytes as they are sent.
    private final class Framed extends BlockStream {
        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            if (left == 0) {
                if (isOnly && body.read() >= 0) {
                    throw ErrorType.BAD_INPUT.because(
                            "body: found more bytes behind its message, expected one message");
                }
                return -1;
            }
            int count = body.read(bytes, offset, (int) Math.min(length, left));
            if (count < 0) {
                throw ErrorType.BAD_INPUT.because(
                        "body: found its end, expected %d more bytes of its message".formatted(left));
            }
            left -= count;
            return count;
        }
    }
}
