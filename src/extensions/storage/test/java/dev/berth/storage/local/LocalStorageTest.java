package dev.berth.storage.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import dev.berth.testing.Pipes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LocalStorageTest {

    @AutoClose
    private final Storage storage = new Storage();

    @TempDir
    private Path directory;

    @Test
    void hiddenFilesAndThoseOfUnfinishedWritersAreNotListed() throws IOException {
        file("seen", "");
        file(".hidden", "");
        file(".git/config", "");
        try (var writer = location(directory.resolve("unfinished")).create()) {
            writer.write(1);
            assertThat(keys(directory)).containsExactly("seen");
        }
    }

    @Test
    void aFileIsListedByItsName() throws IOException {
        file("a/.b.csv", "12");
        var location = location(directory.resolve("a/.b.csv"));
        try (var objects = location.list()) {
            assertThat(objects).containsExactly(new StoredObject(location, ".b.csv", 2));
        }
    }

    @Test
    void symbolicLinksAreFollowedButNotIntoADirectoryThatTheyAreIn() throws IOException {
        file("data/x", "x");
        Files.createDirectory(directory.resolve("in"));
        Files.createSymbolicLink(directory.resolve("in/data"), directory.resolve("data"));
        Files.createSymbolicLink(directory.resolve("in/file"), directory.resolve("data/x"));
        Files.createSymbolicLink(directory.resolve("data/up"), directory);
        Files.createSymbolicLink(directory.resolve("data/self"), Path.of("."));
        assertThat(keys(directory.resolve("in"))).containsExactly("data/x", "file");
        assertThat(keys(directory)).containsExactly("data/x", "in/data/x", "in/file");
    }

    /// Not there yet, or behind a link and back: the system follows the link first.
    @Test
    void aPathIsListedWhereTheSystemFindsIt() throws IOException {
        file("other/secret", "");
        Files.createDirectory(directory.resolve("other/deep"));
        Files.createDirectory(directory.resolve("in"));
        Files.createSymbolicLink(directory.resolve("in/link"), directory.resolve("other/deep"));
        var in = location(directory.resolve("in"));
        assertThat(location(directory.resolve("in/new/one")).isListedIn(in)).isTrue();
        assertThat(location(directory.resolve("in/../in/one")).isListedIn(in)).isTrue();
        for (var outside : List.of("in/link/../secret", "in/link/../new", "in/link/one", "in/../one")) {
            assertThat(location(directory.resolve(outside)).isListedIn(in))
                    .as(outside)
                    .isFalse();
        }
    }

    @Test
    void aNameThatCannotBeReadEndsTheListing() throws Exception {
        var shell = new ProcessBuilder("sh", "-c", "cd \"$0\" && : > \"$(printf 'caf\\351.json')\"").command();
        shell.add(directory.toString());
        assumeTrue(new ProcessBuilder(shell).start().waitFor() == 0);
        assertThatThrownBy(() -> keys(directory))
                .isInstanceOf(StorageException.class)
                .hasMessageContaining(".json: found a name that is not");
    }

    @Test
    void aFileThatIsGoneWhenItsTurnComesIsListedAndCannotBeOpened() throws IOException {
        file("a", "");
        file("b", "");
        file("c", "");
        try (var objects = location(directory).list()) {
            var iterator = objects.iterator();
            iterator.next();
            Files.delete(directory.resolve("c"));
            assertThat(iterator.next().key()).isEqualTo("b");
            var gone = iterator.next();
            assertThatThrownBy(() -> gone.location().open())
                    .hasMessageEndingWith("c: can't be read: no such file or directory");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "read, none, no such file or directory",
        "read, link, no such file or directory",
        "read, directory, 'found a directory, expected a file'",
        "read, pipe, 'found a pipe, a socket or a device, expected a file'",
        "written, directory, 'found a directory, expected a file or nothing'",
        "written, directory/file/a/b, 'found a file at %s/directory/file, expected a directory'"
    })
    void whatIsInTheWayOfAFileIsSaid(String verb, String key, String found) throws Exception {
        file("directory/file", "");
        Files.createSymbolicLink(directory.resolve("link"), Path.of("gone"));
        Pipes.make(directory.resolve("pipe"));
        assertThat(keys(directory)).as("all but the pipe").containsExactly("directory/file", "link");
        var location = location(directory.resolve(key));
        assertThatThrownBy(() -> (verb.equals("read") ? location.open() : location.create()).close())
                .isInstanceOf(StorageException.class)
                .hasMessage("%s: can't be %s: %s", location, verb, found.formatted(directory));
    }

    @Test
    void aNameIsAsLongAsTheFileSystemTakesAtMost() throws IOException {
        var tooLong = location(directory.resolve("n".repeat(256)));
        try (var writer = tooLong.create()) {
            assertThatThrownBy(writer::commit)
                    .isInstanceOf(StorageException.class)
                    .hasMessageEndingWith("File name too long");
        }
        assertThat(all()).isEmpty();
    }

    @Test
    void anInterruptedWriterFailsAndCleansUp() throws IOException {
        try (var writer = location(directory.resolve("a")).create()) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> writer.write(new byte[1 << 20]))
                    .isInstanceOfSatisfying(
                            StorageException.class,
                            e -> assertThat(e.isRetryable()).isTrue())
                    .hasMessageEndingWith("a: interrupted");
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(all()).isEmpty();
    }

    @Test
    void aDirectoryThatComesInTheWayWhileAFileIsWrittenIsAnError() throws IOException {
        var location = location(directory.resolve("a"));
        try (var writer = location.create()) {
            file("a/b", "");
            assertThatThrownBy(writer::commit)
                    .isInstanceOf(StorageException.class)
                    .hasMessageStartingWith(location + ": can't be written: ");
        }
        assertThat(all()).containsExactly("a", "a/b");
    }

    @Test
    void whatTheSystemRefusesToReadIsSaid() {
        var location = storage.at("/proc/self/mem");
        assumeTrue(location.exists());
        try (var in = (LocalReader) location.open()) {
            assertThatThrownBy(in::read)
                    .isInstanceOfSatisfying(
                            StorageException.class,
                            e -> assertThat(e.isRetryable()).isFalse())
                    .hasMessage("/proc/self/mem: can't be read: Input/output error");
        }
    }

    @Test
    void whatTheSystemRefusesToWriteIsSaid() {
        assumeTrue(Files.isDirectory(Path.of("/sys")));
        // Not even root may; the reason is another one where it is mounted to be read only.
        assertThatThrownBy(() -> storage.at("/sys/berth").create())
                .isInstanceOf(StorageException.class)
                .hasMessageMatching(
                        "/sys/berth: can't be written: (permission denied|Operation not permitted|Read-only file system).*");
    }

    @Test
    void missingPermissionsAreSaid() throws IOException {
        file("a/b", "");
        Files.setPosixFilePermissions(directory.resolve("a"), PosixFilePermissions.fromString("---------"));
        try {
            assumeTrue(!Files.isReadable(directory.resolve("a")), "root may do everything");
            assertThatThrownBy(() -> keys(directory))
                    .hasMessageStartingWith(directory + "/a: can't be listed: permission denied");
            assertThatThrownBy(() -> location(directory.resolve("a/b")).open())
                    .hasMessageStartingWith(directory + "/a/b: can't be read: permission denied");
            assertThatThrownBy(() -> location(directory.resolve("a/c")).create())
                    .hasMessageStartingWith(directory + "/a/c: can't be written: permission denied");
        } finally {
            Files.setPosixFilePermissions(directory.resolve("a"), PosixFilePermissions.fromString("rwx------"));
        }
    }

    @Test
    void aFullDiskIsSaidAndNothingStays() throws IOException {
        try (var disk = Jimfs.newFileSystem(
                Configuration.unix().toBuilder().setMaxSize(1 << 20).build())) {
            var location = new LocalLocation(disk.getPath("/out/x"), "out/x");
            try (var writer = location.create()) {
                assertThatThrownBy(() -> writer.write(new byte[2 << 20]))
                        .isInstanceOf(StorageException.class)
                        .hasMessage("out/x: can't be written: out of disk space");
                assertThatThrownBy(writer::commit)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessage(
                                "out/x: found a writer that has failed, committed or been closed, expected an open one");
            }
            try (var files = Files.list(disk.getPath("/out"))) {
                assertThat(files).isEmpty();
            }
        }
    }

    private Path file(String key, String text) throws IOException {
        var file = directory.resolve(key);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text);
    }

    private List<String> keys(Path path) {
        try (var objects = location(path).list()) {
            return objects.map(StoredObject::key).toList();
        }
    }

    private List<String> all() throws IOException {
        try (var files = Files.walk(directory)) {
            return files.skip(1)
                    .map(file -> directory.relativize(file).toString())
                    .sorted()
                    .toList();
        }
    }

    private Location location(Path path) {
        return storage.at(path.toString());
    }
}
