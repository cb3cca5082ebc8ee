package dev.berth.content;

import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
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

    private final Archive archive;
    private final ZipFile zip;

    /// The bytes of an archive. Those of its directory are counted before anything is made of them.
    private static final class Archive extends SeekableInMemoryByteChannel {

        private boolean isOpened;

        Archive(byte[] bytes) {
            super(bytes);
        }

        @Override
        public int read(ByteBuffer into) throws IOException {
            RequestMemory.charge(isOpened ? 0 : (long) KEPT * Math.min(into.remaining(), size() - position()));
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
