package dev.berth.columnar;

import io.airlift.compress.Compressor;
import io.airlift.compress.Decompressor;
import io.airlift.compress.lz4.Lz4Decompressor;
import io.airlift.compress.snappy.SnappyCompressor;
import io.airlift.compress.snappy.SnappyDecompressor;
import io.airlift.compress.zstd.ZstdDecompressor;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.GZIPInputStream;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.compression.CompressionCodecFactory;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;

/// The codecs of Parquet in Java alone. Parquet's own unpack native libraries at run time.
final class PureCodecs implements CompressionCodecFactory {

    /// Unpacks one page.
    private interface Unpacking {
        byte[] unpack(byte[] packed, int size) throws IOException;
    }

    @Override
    public BytesInputCompressor getCompressor(CompressionCodecName name) {
        if (name != CompressionCodecName.SNAPPY) {
            throw new IllegalArgumentException(
                    "found %s, expected SNAPPY: tables are written with nothing else".formatted(name));
        }
        return new Snappy(new SnappyCompressor());
    }

    @Override
    public BytesInputDecompressor getDecompressor(CompressionCodecName name) {
        return switch (name) {
            case UNCOMPRESSED -> new Pages((packed, _) -> packed);
            case SNAPPY -> new Pages((packed, size) -> unpack(new SnappyDecompressor(), packed, size));
            case ZSTD -> new Pages((packed, size) -> unpack(new ZstdDecompressor(), packed, size));
            case LZ4_RAW -> new Pages((packed, size) -> unpack(new Lz4Decompressor(), packed, size));
            case GZIP -> new Pages(PureCodecs::unzip);
            case LZO, LZ4, BROTLI ->
                throw new IllegalArgumentException(
                        "found pages packed with %s, expected none, SNAPPY, ZSTD, GZIP or LZ4_RAW".formatted(name));
        };
    }

    private static byte[] unpack(Decompressor decompressor, byte[] packed, int size) {
        var unpacked = new byte[size];
        int length = decompressor.decompress(packed, 0, packed.length, unpacked, 0, size);
        if (length != size) {
            throw new IllegalArgumentException("found a page of %d bytes, expected %d".formatted(length, size));
        }
        return unpacked;
    }

    private static byte[] unzip(byte[] packed, int size) throws IOException {
        try (var in = new GZIPInputStream(new ByteArrayInputStream(packed))) {
            return in.readNBytes(size);
        }
    }

    private static byte[] bytes(BytesInput input) throws IOException {
        var bytes = new ByteArrayOutputStream(Math.toIntExact(input.size()));
        input.writeAllTo(bytes);
        return bytes.toByteArray();
    }

    @Override
    public void release() {}

    private record Pages(Unpacking unpacking) implements BytesInputDecompressor {

        @Override
        public BytesInput decompress(BytesInput packed, int size) throws IOException {
            return BytesInput.from(unpacking.unpack(bytes(packed), size));
        }

        @Override
        public void decompress(ByteBuffer packed, int packedSize, ByteBuffer out, int size) throws IOException {
            var bytes = new byte[packedSize];
            packed.get(bytes);
            out.put(unpacking.unpack(bytes, size));
        }

        @Override
        public void release() {}
    }

    private record Snappy(Compressor compressor) implements BytesInputCompressor {

        @Override
        public BytesInput compress(BytesInput page) throws IOException {
            var bytes = bytes(page);
            var packed = new byte[compressor.maxCompressedLength(bytes.length)];
            return BytesInput.from(packed, 0, compressor.compress(bytes, 0, bytes.length, packed, 0, packed.length));
        }

        @Override
        public CompressionCodecName getCodecName() {
            return CompressionCodecName.SNAPPY;
        }

        @Override
        public void release() {}
    }
}
