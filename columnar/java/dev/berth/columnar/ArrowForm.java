package dev.berth.columnar;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import org.apache.arrow.compression.Lz4CompressionCodec;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.compression.CompressionCodec;
import org.apache.arrow.vector.compression.CompressionUtil.CodecType;
import org.apache.arrow.vector.compression.NoCompressionCodec;
import org.apache.arrow.vector.dictionary.DictionaryProvider;
import org.apache.arrow.vector.ipc.ArrowFileReader;
import org.apache.arrow.vector.ipc.ArrowFileWriter;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;
import org.apache.arrow.vector.ipc.ArrowWriter;
import org.apache.arrow.vector.ipc.message.MessageSerializer;

/// The two forms that record batches have in a file.
enum ArrowForm {
    FILE {
        @Override
        ArrowReader reader(FileChannel in, BufferAllocator memory) {
            return new ArrowFileReader(in, memory, new Unpacking());
        }

        @Override
        ArrowWriter writer(VectorSchemaRoot batch, DictionaryProvider dictionaries, WritableByteChannel out) {
            return new ArrowFileWriter(batch, dictionaries, out);
        }
    },
    STREAM {
        @Override
        ArrowReader reader(FileChannel in, BufferAllocator memory) throws IOException {
            // Arrow would take the first bytes of any file for a length, and ask for so much memory.
            var mark = ByteBuffer.allocate(Integer.BYTES);
            in.read(mark, 0);
            if (mark.getInt(0) != MessageSerializer.IPC_CONTINUATION_TOKEN) {
                throw new IOException("it is not an Arrow stream");
            }
            return new ArrowStreamReader(in, memory, new Unpacking());
        }

        @Override
        ArrowWriter writer(VectorSchemaRoot batch, DictionaryProvider dictionaries, WritableByteChannel out) {
            return new ArrowStreamWriter(batch, dictionaries, out);
        }
    };

    /// @throws IOException when the file can't be one of this form
    abstract ArrowReader reader(FileChannel in, BufferAllocator memory) throws IOException;

    abstract ArrowWriter writer(VectorSchemaRoot batch, DictionaryProvider dictionaries, WritableByteChannel out);

    /// What needs no native library.
    private static final class Unpacking implements CompressionCodec.Factory {

        @Override
        public CompressionCodec createCodec(CodecType type) {
            return switch (type) {
                case NO_COMPRESSION -> NoCompressionCodec.INSTANCE;
                case LZ4_FRAME -> new Lz4CompressionCodec();
                case ZSTD -> throw new IllegalArgumentException("found columns packed with ZSTD, expected none or LZ4");
            };
        }

        @Override
        public CompressionCodec createCodec(CodecType type, int level) {
            return createCodec(type);
        }
    }
}
