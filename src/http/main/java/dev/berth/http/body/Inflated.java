package dev.berth.http.body;

import dev.berth.content.Gunzip;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.memory.RequestMemory;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.concurrent.Semaphore;
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

    /// How much is inflated in one turn. A few hundred bytes may become a megabyte.
    private static final int PIECE = 64 << 10;

    /// Inflating takes a core, on virtual threads too. So half of the cores are left to all other
    /// requests, however many bodies are inflated.
    private static final Semaphore TURNS =
            new Semaphore(Math.max(1, Runtime.getRuntime().availableProcessors() / 2), true);

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
        if (in == null) {
            memory.add(MEMORY);
        }
        TURNS.acquireUninterruptibly();
        try {
            if (in == null) {
                in = coding.equals(GZIP) ? Gunzip.open(new Packed(), BUFFER) : new Deflated(new Packed());
            }
            return in.read(bytes, offset, Math.min(length, PIECE));
        } catch (ZipException | EOFException e) {
            throw ErrorType.BAD_INPUT.because(
                    "body: it is not whole %s, as %s says: %s".formatted(coding, header, e.getMessage()), e);
        } finally {
            TURNS.release();
        }
    }

    /// What is inflated. Nobody has a turn while it waits for more.
    private final class Packed extends BlockStream {
        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            TURNS.release();
            try {
                return packed.read(bytes, offset, length);
            } finally {
                TURNS.acquireUninterruptibly();
            }
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
