package dev.berth.storage.s3;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;

/// The bytes of one part, which may be read as often as it must be sent. It begins small: most
/// objects are small, and many are written at once.
final class PartBuffer extends ByteArrayOutputStream {

    private static final int FIRST_BYTES = 1 << 14;

    PartBuffer() {
        super(FIRST_BYTES);
    }

    /// A stream from the beginning; nothing may be written while it is in use.
    InputStream open() {
        return new ByteArrayInputStream(buf, 0, count);
    }
}
