package dev.berth.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.testing.Gzipped;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.ZipException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GunzipTest {

    private static final byte[] TWO = concatenated(packed("one\n".repeat(2)), packed("two\n"));

    /// The place of the flags in a header.
    private static final int FLAGS = 3;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 1 << 16})
    void membersOneBehindTheOtherAreOneObject(int buffer) throws Exception {
        var long_ = packed("x".repeat(100_000));
        var in = new ByteArrayInputStream(concatenated(TWO, long_, new byte[1000]));
        // A stream that says that nothing is available, as those of a network may.
        var stream = new SequenceInputStream(new ByteArrayInputStream(new byte[0]), in);
        try (var unpacked = Gunzip.open(stream, buffer)) {
            assertThat(new String(unpacked.readAllBytes(), StandardCharsets.UTF_8))
                    .isEqualTo("one\none\ntwo\n" + "x".repeat(100_000));
            assertThat(unpacked.read()).isEqualTo(-1);
        }
    }

    @Test
    void whatIsCutOffIsRefused() {
        int first = packed("one\n".repeat(2)).length;
        for (int length = 0; length < TWO.length; length++) {
            var cut = Arrays.copyOf(TWO, length);
            if (length != first) {
                assertThatThrownBy(() -> unpacked(cut)).as("%d bytes", length).isInstanceOf(ZipException.class);
            }
        }
    }

    /// `CompressedBodiesTest` has more of them than are read.
    @Test
    void someMembersWithoutContentAreRead() throws Exception {
        var members = ("a" + " ".repeat(49)).repeat(8).chars().mapToObj(c -> packed(c == 'a' ? "a" : ""));
        assertThat(unpacked(concatenated(members.toArray(byte[][]::new)))).isEqualTo("a".repeat(8));
    }

    /// The program itself says what is right. It refuses flags that mean nothing too, as the JDK does
    /// not; nothing is lost there.
    @Test
    @Tag("slow")
    void eachFlippedBitIsJudgedAsByGzip() throws Exception {
        int second = packed("one\n".repeat(2)).length;
        for (int bit = 8 * (second - 8); bit < 8 * (second + 10); bit++) {
            var damaged = TWO.clone();
            damaged[bit / 8] ^= (byte) (1 << (bit % 8));
            var right = byGzip(damaged);
            if (right.isPresent() || bit / 8 != second + FLAGS) {
                assertThat(here(damaged)).as("bit %d", bit).isEqualTo(right);
            }
        }
        for (var behind : new byte[][] {{0}, {0, 0, 0}, {0, 1}, {1}, {0x1f}, {0x1f, 0}}) {
            var longer = concatenated(TWO, behind);
            assertThat(here(longer)).as(Arrays.toString(behind)).isEqualTo(byGzip(longer));
        }
    }

    private static Optional<String> here(byte[] packed) throws IOException {
        try {
            return Optional.of(unpacked(packed));
        } catch (ZipException e) {
            return Optional.empty();
        }
    }

    private Optional<String> byGzip(byte[] packed) throws Exception {
        var file = Files.write(directory.resolve("a.gz"), packed);
        var gzip = new ProcessBuilder("gzip", "-dc", file.toString()).start();
        var text = new String(gzip.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return gzip.waitFor() == 0 ? Optional.of(text) : Optional.empty();
    }

    private static String unpacked(byte[] packed) throws IOException {
        try (var in = Gunzip.open(new ByteArrayInputStream(packed), 512)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static byte[] packed(String text) {
        return Gzipped.packed(text.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] concatenated(byte[]... parts) {
        var all = new ByteArrayOutputStream();
        for (var part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }
}
