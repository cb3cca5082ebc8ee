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
    @ValueSource(strings = {"stored.npz", "compressed.npz", "piped-compressed.npz"})
    void whatNumpyWroteIsReadInItsOrder(String name) {
        assertThat(Npz.read(NpyFiles.read(name)))
                .containsExactly(Map.entry("second", SECOND), Map.entry("first/ä", FIRST));
    }

    @Test
    void whatIsWrittenComesBack() {
        assertThat(Npz.read(Npz.write(both())))
                .containsExactly(Map.entry("second", SECOND), Map.entry("first/ä", FIRST));
        assertThat(Npz.write(both())).isEqualTo(Npz.write(both()));
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
        assertThatThrownBy(() -> Npz.read(notUtf8)).isInstanceOf(BadInputException.class);
        var packed = Npz.write(both());
        packed[8] = 12;
        assertRefused(
                packed,
                "array \"second.npy\": found a broken ZIP archive (invalid compression method), expected an .npz file");
        packed[8] = 0;
        packed[6] |= 1;
        assertBroken(packed, "encrypted ZIP entry not supported");
        var brokenOff = Npz.write(both());
        brokenOff[0] = 'Q';
        assertBroken(brokenOff, "0 files, and 2 by its end");
        var longName = Npz.write(both());
        longName[27] = (byte) 0xff;
        assertBroken(longName, "the end of the data before that of a file");
        var changed = NpyFiles.read("stored.npz");
        changed[40 + 138] ^= 1;
        assertThatThrownBy(() -> Npz.read(changed))
                .isInstanceOf(BadInputException.class)
                .hasMessageStartingWith("array \"second.npy\": found a broken ZIP archive (");
    }

    /// Its lengths stand behind each array, and so does the end of it.
    @Test
    void whatIsNotPackedIsNotReadFromAPipe() {
        assertBroken(NpyFiles.read("piped.npz"), "only DEFLATED entries can have EXT descriptor");
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

    @Test
    void whatIsUnpackedIsCounted() throws IOException {
        int most = Math.toIntExact(ProcessMemory.ofThisProcess().large().bytes() / 2);
        var archive = compressed("a.npy", new byte[most + 1]);
        try (var memory = new RequestMemory(ProcessMemory.ofThisProcess(), Long.MAX_VALUE, () -> {})) {
            assertThatThrownBy(() -> memory.call(() -> Npz.read(archive, Integer.MAX_VALUE)))
                    .isInstanceOf(ServingException.class);
        }
    }

    @Test
    void anInterruptStopsUnpacking() throws IOException {
        var archive = compressed("a.npy", Npy.write(FIRST));
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> Npz.read(archive)).isInstanceOf(CancellationException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    private static void assertBroken(byte[] archive, String why) {
        assertRefused(archive, "found a broken ZIP archive (%s), expected an .npz file".formatted(why));
    }

    private static void assertRefused(byte[] archive, String message) {
        assertThatThrownBy(() -> Npz.read(archive))
                .isInstanceOf(BadInputException.class)
                .hasMessage(message);
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
