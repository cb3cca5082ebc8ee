package dev.berth.storage;

import java.io.OutputStream;

/// Writes one object, which appears under its name only when it is whole: with [#commit].
///
/// Used by one thread at a time. All methods throw [StorageException], and after that only [#close]
/// is of use.
public abstract class ObjectWriter extends OutputStream {

    /// Where it will be, as messages name it.
    protected final Object location;

    /// Whether it takes bytes: nothing has failed, and it is neither committed nor closed.
    private boolean isOpen = true;

    /// Whether there is something to discard.
    private boolean isUnfinished = true;

    protected ObjectWriter(Object location) {
        this.location = location;
    }

    @Override
    public final void write(int value) {
        write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public final void write(byte[] bytes) {
        write(bytes, 0, bytes.length);
    }

    /// Takes the bytes, which may be used again afterwards. Small pieces are fine.
    ///
    /// @throws StorageException for these bytes or earlier ones
    @Override
    public final void write(byte[] bytes, int offset, int length) {
        whileOpen(() -> append(bytes, offset, length));
    }

    /// Does nothing: an object has no parts that others could see.
    @Override
    public final void flush() {}

    /// Lets the object appear, in the place of one that was there before. When this returns it is
    /// safe on disk or in S3.
    ///
    /// @throws IllegalStateException where something failed before, or this has been called
    public final void commit() {
        whileOpen(this::publish);
        isOpen = false;
        isUnfinished = false;
    }

    /// Removes what was written, unless it has been committed.
    ///
    /// @throws StorageException where some of it stays. Nobody takes that for an object, but S3
    ///   stores it for money
    @Override
    public final void close() {
        boolean isLeft = isUnfinished;
        isOpen = false;
        isUnfinished = false;
        if (isLeft) {
            discard();
        }
    }

    /// Takes bytes, in their order.
    protected abstract void append(byte[] bytes, int offset, int length);

    /// Lets the object appear.
    protected abstract void publish();

    /// Removes what was appended.
    protected abstract void discard();

    private void whileOpen(Runnable action) {
        if (!isOpen) {
            throw new IllegalStateException(
                    "%s: found a writer that has failed, committed or been closed, expected an open one"
                            .formatted(location));
        }
        isOpen = false;
        action.run();
        isOpen = true;
    }
}
