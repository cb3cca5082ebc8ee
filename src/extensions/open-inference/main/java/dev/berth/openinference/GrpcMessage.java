package dev.berth.openinference;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.http.body.BlockStream;
import dev.berth.http.body.Inflated;
import dev.berth.memory.RequestMemory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/// The bytes of a message in the body of a call, as they are sent. Used by one thread at a time.
final class GrpcMessage extends BlockStream {

    /// In front of a message: a byte that says whether it is compressed, and its length in 4 bytes,
    /// big-endian (`PROTOCOL-HTTP2.md` of gRPC).
    static final int PREFIX = 1 + Integer.BYTES;

    private final InputStream body;
    private final boolean isOnly;
    private final boolean isCompressed;

    /// How many bytes of it have not been read.
    private long left;

    /// Reads the prefix.
    ///
    /// @param isOnly whether nothing may come behind the message
    /// @throws ServingException `BAD_INPUT`, as all others, where it is not whole
    GrpcMessage(InputStream body, boolean isOnly) throws IOException {
        var prefix = ByteBuffer.wrap(body.readNBytes(PREFIX));
        if (prefix.limit() < PREFIX) {
            throw ErrorType.BAD_INPUT.because("body: found %d bytes, expected a message behind the %d of its prefix"
                    .formatted(prefix.limit(), PREFIX));
        }
        this.body = body;
        this.isOnly = isOnly;
        this.isCompressed = prefix.get() != 0;
        this.left = Integer.toUnsignedLong(prefix.getInt());
    }

    /// The message itself.
    ///
    /// @param coding the value of `grpc-encoding`
    InputStream inflated(String coding, RequestMemory memory) {
        if (isCompressed && !Inflated.CODINGS.contains(coding)) {
            throw ErrorType.BAD_INPUT.because(
                    "body: found a compressed message, expected one that is not, as grpc-encoding says");
        }
        return isCompressed ? new Inflated(this, coding, "grpc-encoding", memory) : this;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        if (left == 0) {
            if (isOnly && body.read() >= 0) {
                throw ErrorType.BAD_INPUT.because("body: found more bytes behind its message, expected one message");
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
