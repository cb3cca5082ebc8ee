package dev.berth.storage.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import dev.berth.storage.StorageException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalWriterTest {

    private final Storage storage = new Storage();

    @TempDir
    private Path directory;

    @AfterEach
    void close() {
        storage.close();
    }

    @Test
    void aFileAppearsWholeWithTheCommitAndDirectoriesAreMade() throws IOException {
        var bytes = new byte[300_000];
        new Random(1).nextBytes(bytes);
        var location = location("a/b/c.out");
        try (var writer = location.create()) {
            writer.write(bytes, 0, 100_000);
            writer.flush();
            assertThat(location.exists()).isFalse();
            writer.write(bytes[100_000]);
            writer.write(bytes, 100_001, 199_999);
            writer.commit();
            assertThat(location.open()).hasBinaryContent(bytes);
        }
        assertThat(all()).containsExactly("a", "a/b", "a/b/c.out");
    }

    @Test
    void anEmptyFileMayBeWritten() throws IOException {
        write("empty", "");
        assertThat(location("empty").size()).hasValue(0);
    }

    @Test
    void withoutACommitTheOldFileStaysAndNothingElse() throws IOException {
        write("a", "old");
        try (var writer = location("a").create()) {
            writer.write(bytes("new"));
        }
        assertThat(location("a").open()).hasContent("old");
        assertThat(all()).containsExactly("a");
    }

    @Test
    void aCommitReplacesTheOldFileWhichAReaderReadsToItsEnd() throws IOException {
        write("a", "old text");
        try (var reader = location("a").open()) {
            assertThat(reader.readNBytes(3)).isEqualTo(bytes("old"));
            write("a", "new");
            assertThat(reader.readAllBytes()).isEqualTo(bytes(" text"));
        }
        assertThat(location("a").open()).hasContent("new");
    }

    @Test
    void aKilledWriterLeavesNothingThatLooksWhole() throws IOException {
        var killed = location("a").create();
        killed.write(new byte[100_000]);
        assertThat(all()).hasSize(2).allSatisfy(name -> assertThat(name).startsWith(".a.berth-part"));
        try (var rerun = new Storage();
                var writer = rerun.at(directory.resolve("a")).create()) {
            writer.write(bytes("whole"));
            writer.commit();
        }
        assertThat(all()).containsExactly("a");
        // It was alive after all.
        assertThatThrownBy(killed::commit)
                .isInstanceOf(StorageException.class)
                .hasMessageEndingWith("a: can't be written: another writer of it was faster");
        killed.close();
        assertThat(location("a").open()).hasContent("whole");
    }

    @Test
    void aNameMayBeAsLongAsTheFileSystemTakes() throws IOException {
        var name = "é".repeat(127);
        var killed = location(name).create();
        try (var rerun = new Storage();
                var writer = rerun.at(directory.resolve(name)).create()) {
            writer.commit();
        }
        assertThat(all()).containsExactly(name);
        killed.close();
        assertThatThrownBy(() -> write(name + "é", ""))
                .isInstanceOf(StorageException.class)
                .hasMessageEndingWith("File name too long");
        assertThat(all()).containsExactly(name);
    }

    @Test
    void anInterruptedWriterFailsAndCleansUp() throws IOException {
        try (var writer = location("a").create()) {
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
    void aWriterThatIsDoneTakesNothingMore() {
        var committed = location("a").create();
        committed.commit();
        assertThatThrownBy(() -> committed.write(1))
                .hasMessageEndingWith(
                        "a: found a writer that has failed, committed or been closed, expected an open one");
        assertThatThrownBy(committed::commit).isInstanceOf(IllegalStateException.class);
        committed.close();
        assertThatThrownBy(() -> committed.write(1))
                .hasMessageEndingWith(
                        "a: found a writer that has failed, committed or been closed, expected an open one");
        committed.close();
        assertThat(location("a").exists()).isTrue();
    }

    private void write(String key, String text) throws IOException {
        try (var writer = location(key).create()) {
            writer.write(bytes(text));
            writer.commit();
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

    private Location location(String key) {
        return storage.at(directory.resolve(key).toString());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
