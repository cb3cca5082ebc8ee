package dev.berth.columnar;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowReader;

/// The record batches of a file, one after the other. For one thread.
final class ArrowBatches implements Closeable {

    private final BufferAllocator memory = new RootAllocator();
    private final FileChannel channel;
    private final ArrowReader reader;
    private final VectorSchemaRoot batch;

    private ArrowBatches(FileChannel channel, ArrowForm form) throws IOException {
        this.channel = channel;
        this.reader = form.reader(channel, memory);
        this.batch = reader.getVectorSchemaRoot();
    }

    static ArrowBatches open(Path file, ArrowForm form) throws IOException {
        var channel = FileChannel.open(file);
        try {
            return UnreadableTable.whileReading("Arrow", () -> new ArrowBatches(channel, form));
        } catch (IOException e) {
            try (channel) {
                throw e;
            }
        }
    }

    /// Loads the next batch that has rows. False at the end.
    boolean next() throws IOException {
        return UnreadableTable.whileReading("Arrow", () -> {
            boolean isThere = reader.loadNextBatch();
            while (isThere && batch.getRowCount() == 0) {
                isThere = reader.loadNextBatch();
            }
            return isThere;
        });
    }

    /// The batch that was loaded last. Always the same object.
    VectorSchemaRoot batch() {
        return batch;
    }

    DictionaryProvider dictionaries() {
        return reader;
    }

    BufferAllocator memory() {
        return memory;
    }

    long bytesRead() {
        return reader.bytesRead();
    }

    @Override
    public void close() throws IOException {
        try (memory;
                channel) {
            reader.close();
        }
    }
}
