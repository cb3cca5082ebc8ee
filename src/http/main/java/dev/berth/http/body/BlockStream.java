package dev.berth.http.body;

import java.io.IOException;
import java.io.InputStream;

/// A stream that is read in blocks. Used by one thread at a time.
public abstract class BlockStream extends InputStream {

    @Override
    public final int read() throws IOException {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public abstract int read(byte[] bytes, int offset, int length) throws IOException;
}
