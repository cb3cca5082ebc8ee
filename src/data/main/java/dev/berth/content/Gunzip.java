package dev.berth.content;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/// Unpacks gzip as gzip(1) does: members one behind the other, and zeros at most behind the last
/// one. The JDK's stream takes for the end what is no member, and with it all that stands behind a
/// damaged one. So this looks at what was left.
public final class Gunzip extends GZIPInputStream {

    /// The checksum and the length behind what is packed.
    private static final int TRAILER = 8;

    /// The JDK's stream calls itself for each member that is empty, until the stack ends.
    private static final int MOST_EMPTY = 100;

    /// The most bytes of a member's header. Its name and its comment end with a zero, and nothing is
    /// unpacked before.
    private static final int LONGEST_HEADER = 8 << 10;

    private int empty;

    /// How much was read of the packed stream when the inflater was given something last.
    private long filled;

    /// What is read of the packed stream.
    private static final class Packed extends FilterInputStream {

        private long count;
        private long lastNonZero;

        /// How much of a header was read.
        private int header;

        Packed(InputStream in, int buffer) {
            super(new BufferedInputStream(in, buffer));
        }

        /// The JDK's stream reads headers byte by byte.
        @Override
        public int read() throws IOException {
            if (++header > LONGEST_HEADER) {
                throw new ZipException("found a header of more than %d bytes".formatted(LONGEST_HEADER));
            }
            var one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            int read = in.read(bytes, offset, length);
            for (int i = 0; i < read; i++) {
                count++;
                lastNonZero = bytes[offset + i] == 0 ? lastNonZero : count;
            }
            return read;
        }
    }

    private Gunzip(InputStream packed, int buffer) throws IOException {
        super(new Packed(packed, buffer), buffer);
    }

    /// @throws ZipException when it does not begin as gzip, as the stream does where it is damaged
    public static InputStream open(InputStream packed, int buffer) throws IOException {
        try {
            return new Gunzip(packed, buffer);
        } catch (EOFException e) {
            throw cutOff(e);
        }
    }

    @Override
    protected void fill() throws IOException {
        super.fill();
        filled = ((Packed) in).count;
        ((Packed) in).header = 0;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        if (++empty > MOST_EMPTY) {
            throw new ZipException("found %d members without content, one behind the other".formatted(MOST_EMPTY));
        }
        try {
            int read = super.read(bytes, offset, length);
            if (read < 0) {
                requireNothingBehind();
            }
            return read;
        } catch (EOFException e) {
            throw cutOff(e);
        } finally {
            empty--;
        }
    }

    private void requireNothingBehind() throws IOException {
        long end = filled - inf.getRemaining() + TRAILER;
        in.transferTo(OutputStream.nullOutputStream());
        if (((Packed) in).lastNonZero > end) {
            throw new ZipException("found a damaged member, or other bytes behind the last one");
        }
    }

    private static ZipException cutOff(EOFException cause) {
        var cutOff = new ZipException("found its end, expected more");
        cutOff.initCause(cause);
        return cutOff;
    }
}
