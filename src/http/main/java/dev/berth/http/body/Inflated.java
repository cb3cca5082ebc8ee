package dev.berth.http.body;

import dev.berth.content.Gunzip;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.http.connections.Pace;
import dev.berth.memory.RequestMemory;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.zip.InflaterInputStream;
import java.util.zip.ZipException;

/// What was compressed, as it was before. It is inflated as it is read, and opened by the first
/// read. Used by one thread at a time.
public final class Inflated extends BlockStream {

    private static final String GZIP = "gzip";

    /// `deflate` is zlib's format (RFC 9110 §8.4.1.2).
    public static final List<String> CODINGS = List.of(GZIP, "deflate");

    /// What zlib takes outside of the heap for a stream, and the buffer in front of it.
    private static final int MEMORY = 64 << 10;

    private static final int BUFFER = 8 << 10;

    /// How much is inflated at a time. A few hundred bytes may become a megabyte.
    private static final int PIECE = 64 << 10;

    /// What a byte takes of a core, at 250 MB/s.
    private static final long NANOS = 4;

    /// Half of the cores is for other requests, however many bodies are inflated.
    private static final int SHARE = 2;

    private static final Pace PACE = new Pace(TimeUnit.SECONDS.toNanos(1));

    private final InputStream packed;
    private final String coding;
    private final String header;
    private final RequestMemory memory;

    /// Null before the first read.
    private InputStream in;

    /// @param coding one of [#CODINGS]
    /// @param header that says so, for messages
    /// @param memory of the request
    public Inflated(InputStream packed, String coding, String header, RequestMemory memory) {
        this.packed = packed;
        this.coding = coding;
        this.header = header;
        this.memory = memory;
    }

    /// @throws ServingException `BAD_INPUT` where it is damaged or not whole
    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        try {
            if (in == null) {
                memory.add(MEMORY);
                in = coding.equals(GZIP) ? Gunzip.open(packed, BUFFER) : new Deflated(packed);
            }
            int count = in.read(bytes, offset, Math.min(length, PIECE));
            PACE.pause(SHARE * NANOS * Math.max(0, count));
            return count;
        } catch (ZipException | EOFException e) {
            throw ErrorType.BAD_INPUT.because(
                    "body: it is not whole %s, as %s says: %s".formatted(coding, header, e.getMessage()), e);
        }
    }

    @Override
    public void close() throws IOException {
        if (in != null) {
            in.close();
        }
    }

    private static final class Deflated extends InflaterInputStream {
        private Deflated(InputStream packed) {
            super(packed);
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            int read = super.read(bytes, offset, length);
            if (read < 0 && (inf.getRemaining() > 0 || in.read() >= 0)) {
                throw new ZipException("found other bytes behind its end");
            }
            return read;
        }
    }
}
