package dev.berth.transform.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import dev.berth.storage.StoredObject;
import dev.berth.testing.S3Server;
import dev.berth.transform.Impatient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Journals in a directory, as a job that was killed leaves them.
class CheckpointsTest {

    @TempDir
    private Path directory;

    private final Storage storage = new Storage();

    @AfterEach
    void close() {
        storage.close();
    }

    @Test
    void whatWasCutOffIsMadeAgain() throws IOException {
        var written = open();
        written.arrived(1, 1, bytes("one"));
        written.arrived(2, 1, bytes("two"));
        written.keep();
        var file = journal();
        var whole = Files.readAllBytes(file);
        for (int length = whole.length - 1; length >= whole.length / 2; length--) {
            Files.write(file, Arrays.copyOf(whole, length));
            var cut = open();
            assertThat(cut.answer(1, 1)).hasValue(bytes("one"));
            assertThat(cut.answer(2, 1)).isEmpty();
            cut.arrived(2, 1, bytes("again"));
            cut.keep();
            assertThat(open().answer(2, 1)).hasValue(bytes("again"));
        }
    }

    /// As after a loss of power.
    @Test
    void bytesThatNeverReachedTheDiskAreNoAnswer() throws IOException {
        var written = open();
        written.arrived(1, 1, bytes("one"));
        written.arrived(2, 1, bytes("two"));
        written.keep();
        var file = journal();
        var whole = Files.readAllBytes(file);
        var zeros = whole.clone();
        Arrays.fill(zeros, Frame.BYTES, Frame.BYTES + 3, (byte) 0);
        Files.write(file, zeros);
        var left = open();
        assertThat(left.answer(1, 1)).isEmpty();
        assertThat(left.answer(2, 1)).hasValue(bytes("two"));
        left.keep();
        Files.write(file, Arrays.copyOf(Arrays.copyOf(whole, whole.length / 2), whole.length + 100));
        var padded = open();
        assertThat(padded.answer(1, 1)).hasValue(bytes("one"));
        assertThat(padded.answer(2, 1)).isEmpty();
        padded.keep();
    }

    /// A file is where the directory would be.
    @Test
    void anObjectDoesNotFailWhereItsJournalCannotBeWritten() throws IOException {
        Files.writeString(directory.resolve(".berth-parts"), "");
        var written = open();
        written.arrived(1, 1, bytes("one"));
        assertThat(written.answer(1, 1)).isEqualTo(Optional.empty());
        written.end();
    }

    /// Names of objects are users' own: with the old places, the second of these was in that of the
    /// first, and the last is longer than a file system takes with an ending.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void noKeyLeadsIntoThePlaceOfAnother(boolean remote) throws Exception {
        var keys = List.of("a", "a.parts/x", "a.parts/0123456789abcdef", "n".repeat(252));
        try (var s3 = S3Server.start().createBucket("bucket");
                var storage = Impatient.storage(s3.endpoint())) {
            var output = remote ? storage.at("s3://bucket/out") : output();
            // As much as is written at once.
            int length = remote ? 4 << 20 : 10;
            for (var key : keys) {
                var left = new Checkpoints(output, "job").open(object(key), true);
                left.arrived(1, 1, Arrays.copyOf(bytes(key), length));
                left.written(1, 1, Arrays.copyOf(bytes(key), length));
                left.keep();
            }
            for (var key : keys) {
                var next = new Checkpoints(output, "job").open(object(key), true);
                assertThat(next.answer(1, 1)).as(key).hasValue(Arrays.copyOf(bytes(key), length));
                next.keep();
            }
            var checkpoints = new Checkpoints(output, "job");
            checkpoints.forget(object("a"));
            assertThat(checkpoints.open(object("a"), true).answer(1, 1)).isEmpty();
            assertThat(checkpoints.open(object("a.parts/x"), true).answer(1, 1)).isPresent();
        }
    }

    private StoredObject object(String key) {
        return new StoredObject(storage.at("s3://in/" + key), key, 100);
    }

    private Checkpoint open() {
        return new Checkpoints(output(), "job").open(object("a.txt"), true);
    }

    private Location output() {
        return storage.at(directory.toString());
    }

    private Path journal() throws IOException {
        return only(parts());
    }

    private Path parts() throws IOException {
        return only(directory.resolve(".berth-parts"));
    }

    private static Path only(Path directory) throws IOException {
        try (var files = Files.list(directory)) {
            return files.findFirst().orElseThrow();
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes();
    }
}
