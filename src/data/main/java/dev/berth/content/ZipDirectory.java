package dev.berth.content;

import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.zip.CRC32;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;
import java.util.zip.ZipException;

/// The files of a ZIP archive in memory, as the directory at its end lists them (APPNOTE.TXT 4.3).
/// A writer that can't seek does not know a file's length when it writes the file's own header. The
/// JDK reads the directory only of an archive on disk.
final class ZipDirectory {

    /// The records of an archive: how each begins, and how many bytes it has beside names and the
    /// like.
    private enum Part {
        HEADER(0x04034b50, 30),
        FILE(0x02014b50, 46),
        END_64(0x06064b50, 56),
        LOCATOR_64(0x07064b50, 20),
        END(0x06054b50, 22);

        private final int signature;
        private final int bytes;

        Part(int signature, int bytes) {
            this.signature = signature;
            this.bytes = bytes;
        }
    }

    private static final int LONGEST_COMMENT = 0xffff;

    /// What stands for a number of 64 bits, which is among the extra fields then.
    private static final long ELSEWHERE = 0xffff_ffffL;

    private static final int EXTRA_64 = 1;
    private static final int EXTRA_BYTES = 4;
    private static final int ENCRYPTED = 1;
    private static final int STORED = 0;
    private static final int DEFLATED = 8;
    private static final int PIECE = 8 << 10;

    private final byte[] bytes;
    private final ByteBuffer archive;
    private final int end;

    /// A file of the archive.
    ///
    /// @param packed how many bytes it has in the archive
    /// @param header where its own header is
    record Entry(String name, int method, int checksum, long packed, long length, long header) {}

    /// @throws ZipException where the archive has no end, as one that was cut off
    ZipDirectory(byte[] bytes) throws ZipException {
        this.bytes = bytes;
        this.archive = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        this.end = end();
    }

    /// The end has a comment behind it, which nearly no archive has.
    private int end() throws ZipException {
        int last = bytes.length - Part.END.bytes;
        for (int at = last; at >= Math.max(0, last - LONGEST_COMMENT); at--) {
            if (is(Part.END, at) && small(at + 20) == last - at) {
                return at;
            }
        }
        throw new ZipException("%d bytes without its end".formatted(bytes.length));
    }

    /// The files in the order of the directory.
    ///
    /// @throws IOException where it is damaged, or a name is not UTF-8
    List<Entry> entries() throws IOException {
        long count = small(end + 10);
        long next = unsigned(end + 16);
        int locator = end - Part.LOCATOR_64.bytes;
        if (is(Part.LOCATOR_64, locator)) {
            int end64 = at(Part.END_64, archive.getLong(locator + 8));
            count = archive.getLong(end64 + 32);
            next = archive.getLong(end64 + 48);
        }
        var entries = new ArrayList<Entry>();
        while (is(Part.FILE, next)) {
            int at = (int) next;
            long name = next + Part.FILE.bytes;
            long extra = name + small(at + 28);
            next = extra + small(at + 30) + small(at + 32);
            RequestMemory.charge(HeapSize.RECORD + HeapSize.CHARACTER * (extra - name));
            var text = StandardCharsets.UTF_8.newDecoder().decode(slice(name, extra - name));
            entries.add(entry(at, text.toString(), numbers(slice(extra, small(at + 30)))));
        }
        if (entries.size() != count) {
            throw new ZipException("%d files in the directory, and its end says %d".formatted(entries.size(), count));
        }
        return entries;
    }

    private Entry entry(int at, String name, ByteBuffer numbers) throws ZipException {
        int method = small(at + 10);
        if ((method != STORED && method != DEFLATED) || (small(at + 8) & ENCRYPTED) != 0) {
            throw new ZipException("%s is encrypted or packed by the method %d, expected 0 or 8"
                    .formatted(Excerpt.quoted(name), method));
        }
        long length = number(at + 24, numbers);
        long packed = number(at + 20, numbers);
        return new Entry(name, method, archive.getInt(at + 16), packed, length, number(at + 42, numbers));
    }

    /// The numbers of 64 bits among the extra fields, in the order of those that they stand for.
    private static ByteBuffer numbers(ByteBuffer extra) {
        while (extra.remaining() >= EXTRA_BYTES) {
            int id = extra.getShort();
            int length = Math.min(Short.toUnsignedInt(extra.getShort()), extra.remaining());
            if (id == EXTRA_64) {
                return extra.slice(extra.position(), length).order(ByteOrder.LITTLE_ENDIAN);
            }
            extra.position(extra.position() + length);
        }
        return ByteBuffer.allocate(0);
    }

    private long number(int at, ByteBuffer numbers) {
        long number = unsigned(at);
        return number == ELSEWHERE && numbers.remaining() >= Long.BYTES ? numbers.getLong() : number;
    }

    /// What a file holds.
    ///
    /// @throws IOException where it is damaged, or longer than its entry says
    byte[] read(Entry entry) throws IOException {
        int header = at(Part.HEADER, entry.header);
        var packed = slice((long) header + Part.HEADER.bytes + small(header + 26) + small(header + 28), entry.packed);
        var in = new ByteArrayInputStream(bytes, packed.arrayOffset(), packed.remaining());
        long most = entry.length + 1;
        var file = entry.method == STORED ? unpack(in, most) : inflate(in, most);
        var checksum = new CRC32();
        checksum.update(file);
        if (file.length != entry.length || (int) checksum.getValue() != entry.checksum) {
            throw new ZipException("another length or checksum than in the directory");
        }
        return file;
    }

    private static byte[] inflate(InputStream packed, long most) throws IOException {
        var inflater = new Inflater(true);
        try (var in = new InflaterInputStream(packed, inflater)) {
            return unpack(in, most);
        } finally {
            inflater.end();
        }
    }

    /// What is unpacked is counted piece by piece: the directory may promise too much.
    private static byte[] unpack(InputStream in, long most) throws IOException {
        var bytes = new ByteArrayOutputStream();
        var piece = new byte[PIECE];
        int room = 0;
        for (int count = 0;
                count >= 0 && bytes.size() < most;
                count = in.read(piece, 0, (int) Math.min(PIECE, most - bytes.size()))) {
            bytes.write(piece, 0, count);
            if (Thread.currentThread().isInterrupted()) {
                throw new CancellationException("interrupted after %d unpacked bytes".formatted(bytes.size()));
            }
            if (bytes.size() + PIECE > room) {
                // The stream doubles what it has, and is copied at the end.
                RequestMemory.charge(2L * Math.max(PIECE, room));
                room = Math.max(PIECE, 2 * room);
            }
        }
        return bytes.toByteArray();
    }

    private boolean is(Part part, long at) {
        return at >= 0 && at <= bytes.length - part.bytes && archive.getInt((int) at) == part.signature;
    }

    private int at(Part part, long at) throws ZipException {
        if (!is(part, at)) {
            throw new ZipException("no %s at offset %d".formatted(part, at));
        }
        return (int) at;
    }

    private ByteBuffer slice(long from, long length) throws ZipException {
        if (length < 0 || from > bytes.length - length) {
            throw new ZipException("its end comes before that of a file");
        }
        return archive.slice((int) from, (int) length).order(ByteOrder.LITTLE_ENDIAN);
    }

    private int small(int at) {
        return Short.toUnsignedInt(archive.getShort(at));
    }

    private long unsigned(int at) {
        return Integer.toUnsignedLong(archive.getInt(at));
    }
}
