package dev.berth.storage;

import java.io.InputStream;

/// Reads one object. Its methods throw [StorageException]; used by one thread at a time.
public abstract class ObjectStream extends InputStream {

    /// The bytes that the object has, those before the place included where reading begins.
    public abstract long size();

    @Override
    public final int read() {
        var one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public abstract int read(byte[] bytes, int offset, int length);

    /// More than 0 as long as there is more: the JDK looks here for the next member of a gzip file.
    @Override
    public abstract int available();

    @Override
    public abstract void close();
}
