package dev.berth.storage.local;

import dev.berth.storage.Location;
import dev.berth.storage.ObjectStream;
import dev.berth.storage.StorageException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/// Reads a file, and says which one it is when that fails, or when it is longer or shorter at its
/// end than it was at its beginning.
final class LocalReader extends ObjectStream {

    private final Location location;
    private final SeekableByteChannel file;
    private final InputStream in;
    private final long size;

    LocalReader(Location location, Path path, long from) throws IOException {
        this.location = location;
        this.file = Files.newByteChannel(path);
        this.in = Channels.newInputStream(file.position(from));
        this.size = file.size();
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) {
        int count = reading(() -> in.read(bytes, offset, length));
        long now = count < 0 ? reading(file::size) : size;
        if (now != size) {
            throw StorageException.changed(location, "while it was read", now, size);
        }
        return count;
    }

    @Override
    public int available() {
        return reading(in::available);
    }

    @Override
    public void close() {
        reading(() -> {
            in.close();
            return null;
        });
    }

    private <T> T reading(LocalErrors.Action<T> action) {
        return LocalErrors.naming(location, "read", action);
    }
}
