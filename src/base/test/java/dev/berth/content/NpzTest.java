package dev.berth.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.error.ServingException;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.Tensor;
import dev.berth.memory.ProcessMemory;
import dev.berth.memory.RequestMemory;
import dev.berth.testing.DamagedBytes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.concurrent.CancellationException;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NpzTest {

    private static final Tensor SECOND = Tensor.of(new int[] {0, 1, 2}, 3);
    private static final Tensor FIRST = Tensor.of(new float[] {0.5f});

    /// One [Npy] file of 128 bytes of header and 4 of data.
    private static final int ONE_FILE = 132;

    @ParameterizedTest
    @ValueSource(strings = {"stored.npz", "compressed.npz", "piped.npz", "piped-compressed.npz"})
    void whatNumpyWroteIsReadInItsOrder(String name) {
        assertThat(Npz.read(NpyFiles.read(name)))
                .containsExactly(Map.entry("second", SECOND), Map.entry("first/ä", FIRST));
    }

    @Test
    void noArraysAreReadAsNone() {
        assertThat(Npz.read(NpyFiles.read("empty.npz"))).isEmpty();
        assertThat(Npz.read(Npz.write(new LinkedHashMap<>()))).isEmpty();
    }

    @Test
    void whatIsWrittenComesBack() {
        assertThat(Npz.read(Npz.write(both())))
                .containsExactly(Map.entry("second", SECOND), Map.entry("first/ä", FIRST));
        assertThat(Npz.write(both())).isEqualTo(Npz.write(both()));
    }

    @Test
    @Tag("HOOK-05")
    void pickledObjectsAreRefused() {
        assertThatThrownBy(() -> Npz.read(NpyFiles.read("object.npz")))
                .isInstanceOf(BadInputException.class)
                .hasMessage("array \"arr_0.npy\": offset 20: found the type \"|O\", expected numbers: "
                        + "pickled objects are refused because they can run code");
    }

    /// As writers for any length write it: numbers of 64 bits for what fits into 32.
    @Test
    void numbersOf64BitsAreRead() throws IOException {
        var archive = NpyFiles.read("piped.npz");
        int end = archive.length - 22;
        var before = ByteBuffer.wrap(archive).order(ByteOrder.LITTLE_ENDIAN);
        int start = before.getInt(end + 16);
        int second = start + 46 + before.getShort(start + 28) + before.getShort(start + 30);
        var wide = ByteBuffer.allocate(archive.length + 200).order(ByteOrder.LITTLE_ENDIAN);
        wide.put(archive, 0, start);
        for (int file : List.of(start, second)) {
            int name = before.getShort(file + 28);
            int at = wide.position();
            wide.put(archive, file, 46 + name).putInt(at + 20, -1).putInt(at + 24, -1);
            wide.putInt(at + 42, -1).putShort(at + 30, (short) (4 + 2 + 4 + 24));
            wide.putShort((short) 0x7075).putShort((short) 2).putShort((short) 0);
            wide.putShort((short) 1).putShort((short) 24);
            wide.putLong(before.getInt(file + 24)).putLong(before.getInt(file + 20));
            wide.putLong(before.getInt(file + 42));
        }
        int end64 = wide.position();
        wide.putInt(0x06064b50).putLong(44).putInt(0).putLong(0).putLong(2).putLong(2);
        wide.putLong(end64 - start).putLong(start);
        wide.putInt(0x07064b50).putInt(0).putLong(end64).putInt(1);
        wide.putInt(0x06054b50).putInt(0).putInt(-1).putLong(-1).putShort((short) 0);
        assertThat(Npz.read(Arrays.copyOf(wide.array(), wide.position())))
                .containsExactly(Map.entry("second", SECOND), Map.entry("first/ä", FIRST));
    }

    @Test
    void encryptedFilesAndOtherMethodsAreRefused() {
        var archive = Npz.write(both());
        int directory = ByteBuffer.wrap(archive).order(ByteOrder.LITTLE_ENDIAN).getInt(archive.length - 6);
        archive[directory + 10] = 12;
        assertThatThrownBy(() -> Npz.read(archive))
                .isInstanceOf(BadInputException.class)
                .hasMessage(
                        "found a broken ZIP archive (\"second.npy\" is encrypted or packed by the method 12, expected 0 or 8), expected an .npz file");
        archive[directory + 10] = 0;
        archive[directory + 8] |= 1;
        assertThatThrownBy(() -> Npz.read(archive)).hasMessageContaining("is encrypted");
    }

    @Test
    void allArraysTogetherMayUnpackToTheLimitAndNoFurther() throws IOException {
        var archive = compressed("a.npy", Npy.write(FIRST), "b.npy", Npy.write(FIRST));
        assertThat(Npz.read(archive, 2 * ONE_FILE)).hasSize(2);
        assertThatThrownBy(() -> Npz.read(archive, 2 * ONE_FILE - 1))
                .isInstanceOf(BadInputException.class)
                .hasMessage("array \"b.npy\": found too much, expected at most 263 bytes unpacked for all arrays");
        assertThatThrownBy(() -> Npz.read(archive, ONE_FILE - 1))
                .isInstanceOf(BadInputException.class)
                .hasMessageContaining("array \"a.npy\": found too much");
        assertThat(Npz.read(archive, Integer.MAX_VALUE)).hasSize(2);
    }

    @Test
    void otherFilesAreRefused() throws IOException {
        var archive = compressed("readme.txt", new byte[1]);
        assertThatThrownBy(() -> Npz.read(archive))
                .isInstanceOf(BadInputException.class)
                .hasMessage("array \"readme.txt\": found another file, expected arrays alone, each named ….npy");
    }

    @Test
    void twoArraysOfOneNameAreRefused() throws IOException {
        var archive = compressed("a.npy", Npy.write(FIRST), "b.npy", Npy.write(FIRST));
        rename(archive, "b.npy", "a.npy");
        assertThatThrownBy(() -> Npz.read(archive))
                .isInstanceOf(BadInputException.class)
                .hasMessage("array \"a.npy\": found a second array of this name, expected one");
    }

    @Test
    void namesThatAreNotUtf8AreRefused() {
        var archive = Npz.write(both());
        rename(archive, "first/ä.npy", "first/\u00ff\u00ff.npy");
        assertThatThrownBy(() -> Npz.read(archive))
                .isInstanceOf(BadInputException.class)
                .hasMessageStartingWith("found a broken ZIP archive (");
    }

    @Test
    void whatIsNoArchiveIsRefused() {
        assertThatThrownBy(() -> Npz.read(NpyFiles.read("i4-5.npy")))
                .isInstanceOf(BadInputException.class)
                .hasMessage("found a broken ZIP archive (148 bytes without its end), expected an .npz file");
        assertThatThrownBy(() -> Npz.read(new byte[0]))
                .isInstanceOf(BadInputException.class)
                .hasMessage("found a broken ZIP archive (0 bytes without its end), expected an .npz file");
    }

    @Test
    void archivesThatLackArraysAreRefused() {
        assertThatThrownBy(() -> Npz.read(Arrays.copyOf(Npz.write(both()), 200)))
                .isInstanceOf(BadInputException.class)
                .hasMessage("found a broken ZIP archive (200 bytes without its end), expected an .npz file");
    }

    /// A file without a name takes 46 bytes of the directory, and many more of the heap.
    @Test
    void aDirectoryOfManyFilesIsRefusedBeforeItIsRead() {
        int files = Math.toIntExact(ProcessMemory.ofThisProcess().large().bytes() / (20 * 46) + 1);
        var archive = ByteBuffer.allocate(46 * files + 22).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < files; i++) {
            archive.putInt(46 * i, 0x02014b50);
        }
        archive.putInt(46 * files, 0x06054b50).putShort(46 * files + 10, (short) files);
        archive.putInt(46 * files + 12, 46 * files);
        try (var memory = new RequestMemory(ProcessMemory.ofThisProcess(), Long.MAX_VALUE, () -> {})) {
            assertThatThrownBy(() -> memory.call(() -> Npz.read(archive.array())))
                    .isInstanceOf(ServingException.class);
        }
    }

    /// The library takes seconds for 64 KB of them.
    @Test
    void longExtraFieldsAreRefusedBeforeTheyAreRead() {
        var archive = ByteBuffer.allocate(46 + 2000 + 22).order(ByteOrder.LITTLE_ENDIAN);
        archive.putInt(0, 0x02014b50).putShort(30, (short) 2000);
        archive.putInt(2046, 0x06054b50).putShort(2046 + 10, (short) 1).putInt(2046 + 12, 2046);
        assertThatThrownBy(() -> Npz.read(archive.array()))
                .isInstanceOf(BadInputException.class)
                .hasMessageStartingWith("found a broken ZIP archive (")
                .hasRootCauseMessage("2000 bytes at once in the directory");
    }

    @Test
    void aDirectoryThatBreaksOffIsRefused() {
        var archive = Npz.write(both());
        int directory = ByteBuffer.wrap(archive).order(ByteOrder.LITTLE_ENDIAN).getInt(archive.length - 6);
        int second = directory + 1;
        while (archive[second] != 'P' || archive[second + 1] != 'K') {
            second++;
        }
        archive[second] = 'Q';
        assertThatThrownBy(() -> Npz.read(archive))
                .isInstanceOf(BadInputException.class)
                .hasMessage("found a broken ZIP archive (no file and no end at offset %d), expected an .npz file"
                        .formatted(second));
    }

    @Test
    void aFileThatEndsBehindTheArchiveIsRefused() {
        var archive = Npz.write(both());
        var bytes = ByteBuffer.wrap(archive).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(bytes.getInt(archive.length - 6) + 20, archive.length + 1);
        assertThatThrownBy(() -> Npz.read(archive))
                .isInstanceOf(BadInputException.class)
                .hasMessage("found a broken ZIP archive (its end comes before that of a file), expected an .npz file");
    }

    @Test
    void anInterruptStopsUnpacking() throws IOException {
        var archive = compressed("a.npy", Npy.write(FIRST));
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> Npz.read(archive)).isInstanceOf(CancellationException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    /// It lacks a directory, and takes no memory.
    @Test
    void aDirectoryBehindTheArchiveIsBadInput() {
        var archive = Npz.write(both());
        ByteBuffer.wrap(archive).order(ByteOrder.LITTLE_ENDIAN).putInt(archive.length - 6, Integer.MAX_VALUE);
        try (var memory = new RequestMemory(ProcessMemory.ofThisProcess(), Long.MAX_VALUE, () -> {})) {
            assertThatThrownBy(() -> memory.call(() -> Npz.read(archive))).isInstanceOf(BadInputException.class);
        }
    }

    @Test
    void changedArraysAreFoundByTheirChecksum() {
        var archive = NpyFiles.read("stored.npz");
        archive[40 + 138] ^= 1;
        assertThatThrownBy(() -> Npz.read(archive))
                .isInstanceOf(BadInputException.class)
                .hasMessage(
                        "array \"second.npy\": found a broken ZIP archive (another length or checksum than in the directory), expected an .npz file");
    }

    @ParameterizedTest
    @ValueSource(strings = {"stored.npz", "compressed.npz", "piped.npz", "piped-compressed.npz", "empty.npz"})
    void damagedArchivesAreReadOrRefused(String name) {
        DamagedBytes.areReadOrRefused(NpyFiles.read(name), bytes -> Npz.read(bytes, 1 << 20));
    }

    private static SequencedMap<String, Tensor> both() {
        var tensors = new LinkedHashMap<String, Tensor>();
        tensors.put("second", SECOND);
        tensors.put("first/ä", FIRST);
        return tensors;
    }

    private static byte[] compressed(Object... namesAndFiles) throws IOException {
        var bytes = new ByteArrayOutputStream();
        try (var zip = new ZipOutputStream(bytes)) {
            for (int i = 0; i < namesAndFiles.length; i += 2) {
                zip.putNextEntry(new ZipEntry((String) namesAndFiles[i]));
                zip.write((byte[]) namesAndFiles[i + 1]);
            }
        }
        return bytes.toByteArray();
    }

    /// Writes another name of as many bytes, one for each character, over all places of a name.
    private static void rename(byte[] archive, String from, String to) {
        var name = from.getBytes(StandardCharsets.UTF_8);
        for (int at = 0; at + name.length <= archive.length; at++) {
            if (Arrays.equals(archive, at, at + name.length, name, 0, name.length)) {
                System.arraycopy(to.getBytes(StandardCharsets.ISO_8859_1), 0, archive, at, name.length);
            }
        }
    }
}
