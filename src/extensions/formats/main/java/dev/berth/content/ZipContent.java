package dev.berth.content;

import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.zip.CRC32;
import java.util.zip.ZipException;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipFile;
import org.apache.commons.compress.utils.SeekableInMemoryByteChannel;

/// The files of a ZIP archive in memory, as the directory at its end lists them. A writer that can't
/// seek does not know a file's length when it writes the file's own header. The JDK reads the
/// directory only of an archive on disk.
final class ZipContent implements Closeable {

    /// What the library makes of a byte of the directory, about.
    private static final int KEPT = 20;

    /// The longest name, extra fields or comment of a file. The library's time for extra fields grows
    /// with the square of that.
    private static final int LONGEST = 1 << 10;

    private static final int END = 0x06054b50;
    private static final int END_64 = 0x06064b50;

    private final Archive archive;
    private final ZipFile zip;

    /// The bytes of an archive. Those of its directory are counted before anything is made of them,
    /// and none are read for a request that has ended.
    private static final class Archive extends SeekableInMemoryByteChannel {

        private boolean isOpened;

        Archive(byte[] bytes) {
            super(bytes);
        }

        @Override
        public int read(ByteBuffer into) throws IOException {
            if (Thread.currentThread().isInterrupted()) {
                throw new CancellationException("interrupted at byte %d of a ZIP archive".formatted(position()));
            }
            if (!isOpened) {
                if (into.remaining() > LONGEST) {
                    throw new ZipException("%d bytes at once in the directory".formatted(into.remaining()));
                }
                RequestMemory.charge((long) KEPT * into.remaining());
            }
            return super.read(into);
        }
    }

    /// @throws IOException where it has no directory, as one that was cut off, or that is damaged
    ZipContent(byte[] bytes) throws IOException {
        archive = new Archive(bytes);
        try {
            zip = ZipFile.builder()
                    .setSeekableByteChannel(archive)
                    .setIgnoreLocalFileHeader(true)
                    .get();
        } catch (IOException e) {
            throw new IOException("%d bytes without its end".formatted(bytes.length), e);
        }
        archive.isOpened = true;
        // Behind the files there is an end, or one with numbers of 64 bits.
        int behind = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt((int) archive.position() - 4);
        if (behind != END && behind != END_64) {
            throw new ZipException("no file and no end at offset %d".formatted(archive.position() - 4));
        }
    }

    /// The files in the order of the directory.
    ///
    /// @throws IOException where a name is not UTF-8, or a file can't be unpacked
    List<ZipArchiveEntry> files() throws IOException {
        var files = Collections.list(zip.getEntries());
        for (var file : files) {
            boolean isPlain =
                    file.getMethod() == ZipArchiveEntry.STORED || file.getMethod() == ZipArchiveEntry.DEFLATED;
            if (!isPlain || file.getGeneralPurposeBit().usesEncryption()) {
                throw new ZipException("%s is encrypted or packed by the method %d, expected 0 or 8"
                        .formatted(Excerpt.quoted(file.getName()), file.getMethod()));
            }
            if (file.getCompressedSize() > archive.size()) {
                throw new ZipException("its end comes before that of a file");
            }
            // The library replaces what is not.
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(file.getRawName()));
        }
        return files;
    }

    /// What a file holds.
    ///
    /// @throws IOException where it is damaged, or has another length than its entry says
    byte[] read(ZipArchiveEntry file) throws IOException {
        // Twice: the library collects pieces before it joins them.
        RequestMemory.charge(2 * file.getSize() + HeapSize.RECORD);
        try (var in = zip.getInputStream(file)) {
            var content = in.readNBytes(Math.toIntExact(file.getSize() + 1));
            var checksum = new CRC32();
            checksum.update(content);
            if (content.length != file.getSize() || checksum.getValue() != file.getCrc()) {
                throw new ZipException("another length or checksum than in the directory");
            }
            return content;
        }
    }

    @Override
    public void close() throws IOException {
        zip.close();
    }
}
