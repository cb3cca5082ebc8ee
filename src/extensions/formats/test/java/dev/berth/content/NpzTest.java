package dev.berth.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.error.ServingException;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.Tensor;
import dev.berth.memory.RequestMemory;
import dev.berth.memory.RequestMemory.ProcessMemory;
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
import org.apache.commons.compress.archivers.zip.Zip64Mode;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;
import org.apache.commons.compress.archivers.zip.ZipArchiveOutputStream;
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

    /// As writers for any length write it: numbers of 64 bits for what fits into 32.
    @Test
    void numbersOf64BitsAreRead() throws IOException {
        var bytes = new ByteArrayOutputStream();
        try (var zip = new ZipArchiveOutputStream(bytes)) {
            zip.setUseZip64(Zip64Mode.Always);
            for (var tensor : both().sequencedEntrySet()) {
                zip.putArchiveEntry(new ZipArchiveEntry(tensor.getKey() + ".npy"));
                zip.write(Npy.write(tensor.getValue()));
                zip.closeArchiveEntry();
            }
        }
        assertThat(Npz.read(bytes.toByteArray())).containsExactlyEntriesOf(both());
    }

    @Test
    @Tag("HOOK-05")
    void whatIsNoArchiveOfArraysIsRefused() throws IOException {
        assertRefused(
                NpyFiles.read("object.npz"),
                "array \"arr_0.npy\": header.descr: found \"|O\", expected numbers: pickled objects are refused because they can run code");
        assertRefused(
                compressed("readme.txt", new byte[1]),
                "array \"readme.txt\": found another file, expected arrays alone, each named ….npy");
        var twice = compressed("a.npy", Npy.write(FIRST), "b.npy", Npy.write(FIRST));
        rename(twice, "b.npy", "a.npy");
        assertRefused(twice, "array \"a.npy\": found a second array of this name, expected one");
        assertBroken(NpyFiles.read("i4-5.npy"), "148 bytes without its end");
        assertBroken(new byte[0], "0 bytes without its end");
        assertBroken(Arrays.copyOf(Npz.write(both()), 200), "200 bytes without its end");
    }

    @Test
    void whatIsDamagedIsRefused() {
        var notUtf8 = Npz.write(both());
        rename(notUtf8, "first/ä.npy", "first/\u00ff\u00ff.npy");
        assertBroken(notUtf8, "Input length = 1");
        var packed = Npz.write(both());
        int directory = littleEndian(packed).getInt(packed.length - 6);
        packed[directory + 10] = 12;
        assertBroken(packed, "\"second.npy\" is encrypted or packed by the method 12, expected 0 or 8");
        packed[directory + 10] = 0;
        packed[directory + 8] |= 1;
        assertBroken(packed, "\"second.npy\" is encrypted or packed by the method 0, expected 0 or 8");
        var behind = Npz.write(both());
        littleEndian(behind).putInt(directory + 20, behind.length + 1);
        assertBroken(behind, "its end comes before that of a file");
        var brokenOff = Npz.write(both());
        int second = directory + 46 + brokenOff[directory + 28] + brokenOff[directory + 30];
        brokenOff[second] = 'Q';
        assertBroken(brokenOff, "no file and no end at offset " + second);
        var changed = NpyFiles.read("stored.npz");
        changed[40 + 138] ^= 1;
        assertRefused(
                changed,
                "array \"second.npy\": found a broken ZIP archive (another length or checksum than in the directory), expected an .npz file");
    }

    @Test
    void allArraysTogetherMayUnpackToTheLimitAndNoFurther() throws IOException {
        var archive = compressed("a.npy", Npy.write(FIRST), "b.npy", Npy.write(FIRST));
        for (int most : List.of(2 * ONE_FILE, Integer.MAX_VALUE)) {
            assertThat(Npz.read(archive, most)).hasSize(2);
        }
        for (int most : List.of(2 * ONE_FILE - 1, ONE_FILE - 1)) {
            assertThatThrownBy(() -> Npz.read(archive, most))
                    .isInstanceOf(BadInputException.class)
                    .hasMessage(
                            "array \"%s.npy\": found too much, expected at most %d bytes unpacked for all arrays",
                            most < ONE_FILE ? "a" : "b", most);
        }
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
        littleEndian(archive).putInt(archive.length - 6, Integer.MAX_VALUE);
        try (var memory = new RequestMemory(ProcessMemory.ofThisProcess(), Long.MAX_VALUE, () -> {})) {
            assertThatThrownBy(() -> memory.call(() -> Npz.read(archive))).isInstanceOf(BadInputException.class);
        }
    }

    private static void assertBroken(byte[] archive, String why) {
        assertRefused(archive, "found a broken ZIP archive (%s), expected an .npz file".formatted(why));
    }

    private static void assertRefused(byte[] archive, String message) {
        assertThatThrownBy(() -> Npz.read(archive))
                .isInstanceOf(BadInputException.class)
                .hasMessage(message);
    }

    private static ByteBuffer littleEndian(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
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
