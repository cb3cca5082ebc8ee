package dev.berth.storage;

import static dev.berth.storage.s3.Impatient.bytes;
import static dev.berth.storage.s3.Impatient.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.storage.s3.Impatient;
import dev.berth.testing.S3Server;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// What all stores do alike.
class StoresTest {

    @AutoClose
    private static S3Server server;

    @AutoClose
    private static Storage storage;

    @TempDir
    private Path directory;

    @BeforeAll
    static void start() throws Exception {
        server = S3Server.start().createBucket("bucket");
        storage = Impatient.storage(server.endpoint());
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "s3"})
    void objectsAreListedInTheOrderOfTheirBytesWhateverCharactersTheirKeysHave(String kind) throws IOException {
        var out = place(kind).resolve("out put");
        var keys = new ArrayList<>(List.of(
                "\"<'>",
                "a&b=c?d#e",
                "a-/z",
                "a.txt",
                "a/b/y",
                "a/x",
                "b.csv",
                "c\u0001\n",
                "é é+%20",
                "\uffee",
                "😀"));
        if (kind.equals("s3")) {
            // The S3 of the tests has the order of UTF-16.
            keys.remove("\uffee");
        }
        for (var key : keys.reversed()) {
            write(out.resolve(key), key.getBytes());
        }
        try (var objects = out.list()) {
            var found = objects.toList();
            assertThat(found).extracting(StoredObject::key).containsExactlyElementsOf(keys);
            assertThat(found).allSatisfy(object -> {
                assertThat(object.location()).hasToString(out + "/" + object.key());
                assertThat(object.location().size()).hasValue(object.size());
                assertThat(object.location().open()).hasContent(object.key());
            });
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "s3"})
    void whatIsNotThereHasNoObjectsAndNoSizeAndCannotBeRead(String kind) throws IOException {
        var none = place(kind).resolve("none");
        assertThat(none.list()).isEmpty();
        assertThat(none.size()).isEmpty();
        assertThat(none.exists()).isFalse();
        none.delete();
        none.deleteAll();
        assertThatThrownBy(() -> none.open())
                .isInstanceOf(StorageException.class)
                .hasMessageStartingWith(none + ": ")
                .hasMessageContaining("no such");
        write(none.resolve("below"), new byte[1]);
        assertThat(none.exists()).as("a directory, or a prefix").isFalse();
        none.deleteAll();
        assertThat(none.list()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "s3"})
    void whatIsWrittenIsReadFromAnyPlace(String kind) throws IOException {
        for (int size : new int[] {0, 1, 65_536, 9 << 20}) {
            var bytes = bytes(size);
            var location = place(kind).resolve("dir/" + size);
            write(location, bytes);
            for (int from : new int[] {0, size / 3, Math.max(0, size - 1)}) {
                try (var in = new StoredObject(location, "", size).open(from)) {
                    assertThat(in.read()).isEqualTo(size == 0 ? -1 : bytes[from] & 0xff);
                    assertThat(in.readAllBytes()).hasSize(Math.max(0, size - from - 1));
                    assertThat(in.read()).isEqualTo(-1);
                    assertThat(in.read(new byte[0])).isLessThanOrEqualTo(0);
                }
            }
            isContent(location, bytes);
            assertThatThrownBy(() -> new StoredObject(location, "", size + 1).open(0))
                    .hasMessage(
                            "%s: changed since it was listed: found %d bytes, expected %d", location, size, size + 1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "s3"})
    void anObjectAppearsWithTheCommitAndTheOldOneStaysWithoutIt(String kind) throws IOException {
        var location = place(kind).resolve("a/b");
        write(location, "old".getBytes());
        for (int size : new int[] {1, 20 << 20}) {
            try (var writer = location.create()) {
                writer.write(bytes(size));
                writer.flush();
            }
            assertThat(location.open()).hasContent("old");
        }
        try (var reader = location.open()) {
            assertThat(reader.read()).isEqualTo('o');
            write(location, "new".getBytes());
            assertThat(reader.readAllBytes()).as("of the one that was opened").isEqualTo("ld".getBytes());
        }
        assertThat(location.open()).hasContent("new");
        isAllThereIs(location);
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "s3"})
    void whatAKilledWriterLeftIsRemovedWhenTheObjectIsWrittenAgain(String kind) throws IOException {
        var location = place(kind).resolve("é".repeat(kind.equals("file") ? 127 : 9));
        var killed = location.create();
        killed.write(bytes(9 << 20));
        write(location, bytes(10 << 20));
        isAllThereIs(location);
        // It was alive after all.
        assertThatThrownBy(killed::commit)
                .isInstanceOf(StorageException.class)
                .hasMessageFindingMatch("another writer of it was faster|404 NoSuchUpload");
        killed.close();
        isContent(location, bytes(10 << 20));
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "s3"})
    void aWriterThatIsDoneTakesNothingMore(String kind) throws IOException {
        var location = place(kind).resolve("a");
        for (boolean commits : new boolean[] {true, false}) {
            var writer = location.create();
            if (commits) {
                writer.commit();
            }
            writer.close();
            writer.close();
            for (var use : List.<ThrowingCallable>of(() -> writer.write(1), writer::commit)) {
                assertThatThrownBy(use)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessage(location
                                + ": found a writer that has failed, committed or been closed, expected an open one");
            }
        }
        assertThat(location.size()).hasValue(0);
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "s3"})
    void objectsAreJoinedWhateverTheirLengths(String kind) throws IOException {
        for (var sizes : List.of(List.of(0), List.of(3, 0, 4), List.of(9 << 20, 0, 1 << 20, 3))) {
            var all = new ByteArrayOutputStream();
            var parts = place(kind).resolve(sizes.toString());
            for (int i = 0; i < sizes.size(); i++) {
                write(parts.resolve("" + i), bytes(sizes.get(i)));
                all.write(bytes(sizes.get(i)));
            }
            var whole = place(kind).resolve("whole");
            try (var objects = parts.list()) {
                whole.join(objects.toList(), Optional.of("text/csv"));
            }
            isContent(whole, all.toByteArray());
            isAllThereIs(whole);
        }
    }

    /// AssertJ would read a stream byte by byte.
    private static void isContent(Location object, byte[] bytes) throws IOException {
        try (var in = object.open()) {
            assertThat(in.readAllBytes()).isEqualTo(bytes);
        }
    }

    /// Nothing is hidden beside an object, and no upload is unfinished.
    private void isAllThereIs(Location object) {
        var file = object.file();
        if (file.isPresent()) {
            assertThat(file.get().getParent().toFile().list()).noneMatch(name -> name.startsWith("."));
        } else {
            assertThat(server.unfinishedUploads("bucket")).isEmpty();
        }
    }

    private Location place(String kind) {
        if (kind.equals("file")) {
            return storage.at(directory);
        }
        return storage.at("s3://bucket").resolve(directory.getFileName().toString());
    }
}
