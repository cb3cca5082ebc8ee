package dev.berth.image;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A JVM that can't unpack libwebp.
class WebpImageTest {

    private static final Path IMAGES = Path.of("src/test/resources/images");

    /// Prints what comes of each file that is named.
    static final class Reader {
        public static void main(String[] files) throws Exception {
            for (var file : files) {
                try {
                    System.out.println("%d wide"
                            .formatted(Image.read(Files.readAllBytes(Path.of(file)))
                                    .width()));
                } catch (RuntimeException e) {
                    System.out.println(e);
                }
            }
        }
    }

    private static String read(Path temporary, String... names) throws Exception {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Djava.io.tmpdir=" + temporary,
                "-cp",
                System.getProperty("java.class.path"),
                Reader.class.getName()));
        for (var name : names) {
            command.add(IMAGES.resolve(name).toString());
        }
        var process = new ProcessBuilder(command).redirectErrorStream(true).start();
        var printed = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor()).as(printed).isZero();
        return printed;
    }

    @Test
    void withoutATemporaryDirectoryTheAnswerSaysWhatToDo(@TempDir Path directory) throws Exception {
        var missing = directory.resolve("missing");
        var message =
                "java.lang.IllegalStateException: image: WebP can't be read by this server: its decoder could not be "
                        + "unpacked into java.io.tmpdir, %s. Make that directory writable, or restart with "
                        + "JAVA_OPTS=-Djava.io.tmpdir=DIRECTORY of another";
        // Again, since a class whose loading has failed fails in another way the second time.
        assertThat(read(missing, "lossless.webp", "lossy.webp", "rgb.png", "progressive.jpg"))
                .containsSubsequence(message.formatted(missing), message.formatted(missing), "13 wide", "13 wide");
    }

    @Test
    void withOneItIsRead(@TempDir Path directory) throws Exception {
        assertThat(read(directory, "lossless.webp")).contains("13 wide");
    }
}
