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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Answers in a directory and in S3, as a job that was killed leaves them.
class CheckpointsTest {

    /// As much as is written at once.
    private static final int MOST_IN_PART = 4 << 20;

    @TempDir
    private Path directory;

    @AutoClose
    private final Storage storage = new Storage();

    /// A part appears whole. Some file systems cut it off all the same, when their machine loses its power.
    @Test
    void whatWasCutOffOrDamagedAndWhatIsOfOtherRecordsIsNoAnswer() throws IOException {
        var written = open();
        written.keep(1, 1, bytes("one"));
        written.keep(2, 1, bytes("two"));
        written.end(false);
        assertThat(open().answer(2, 2)).isEmpty();
        assertThat(open().answer(2, 1)).hasValue(bytes("two"));
        var whole = Files.readAllBytes(part(0));
        var damaged = whole.clone();
        // Of a length.
        damaged[12] = -1;
        Files.write(part(0), damaged);
        assertThat(open().answer(1, 1)).isEmpty();
        Files.write(part(0), Arrays.copyOf(whole, whole.length - 1));
        var cut = open();
        assertThat(cut.answer(1, 1)).hasValue(bytes("one"));
        assertThat(cut.answer(2, 1)).isEmpty();
        cut.keep(2, 1, bytes("again"));
        cut.end(false);
        assertThat(open().answer(2, 1)).hasValue(bytes("again"));
    }

    /// It was killed while it wrote its first part.
    @Test
    void whatAKilledRunWasWritingIsRemoved() throws IOException {
        var killed = open();
        killed.keep(1, 1, bytes("one"));
        killed.end(false);
        Files.createDirectory(part(0).resolveSibling(".part.berth-part"));
        Files.move(part(0), part(0).resolveSibling(".part.berth-part").resolve("1"));
        open().end(true);
        new Checkpoints(output(), "job").end();
        assertThat(directory).isEmptyDirectory();
    }

    /// As a stopped job leaves its objects. What had arrived is taken after the interrupt.
    @Test
    void anInterruptedObjectKeepsAllThatHadArrived() {
        var stopped = open();
        Thread.currentThread().interrupt();
        stopped.keep(1, 1, new byte[MOST_IN_PART]);
        stopped.keep(2, 1, bytes("two"));
        stopped.end(false);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(open().answer(2, 1)).hasValue(bytes("two"));
    }

    /// A file is where the directory would be.
    @Test
    void anObjectDoesNotFailWhereItsAnswersCannotBeKept() throws IOException {
        Files.writeString(directory.resolve(".berth-parts"), "");
        var written = open();
        written.keep(1, 1, bytes("one"));
        written.end(false);
    }

    /// Several instances of a job may share a directory.
    @Test
    void whatAnotherInstanceRemovesMeanwhileIsNotLeft() throws Exception {
        var isOver = new AtomicBoolean();
        var other = CompletableFuture.runAsync(() -> {
            while (!isOver.get()) {
                var begun = open();
                begun.keep(1, 1, bytes("one"));
                begun.end(false);
                open().end(true);
                new Checkpoints(output(), "job").end();
            }
        });
        for (int i = 0; i < 2000; i++) {
            new Checkpoints(output(), "job");
        }
        isOver.set(true);
        other.join();
    }

    /// Each is a request.
    @Test
    void anObjectThatFailsAtOnceHasNoPartsInS3() throws Exception {
        try (var s3 = S3Server.start().createBucket("bucket");
                var storage = Impatient.storage(s3.endpoint())) {
            long begun = System.nanoTime();
            var failed = new Checkpoints(storage.at("s3://bucket/out"), "job").open(object("a"), true);
            failed.keep(1, 1, bytes("one"));
            failed.end(false);
            // A second is worth a part, also where the machine has stalled for it.
            assertThat(s3.keys("bucket").isEmpty() || System.nanoTime() - begun >= 1_000_000_000L)
                    .isTrue();
        }
    }

    /// Names of objects are users' own: were they the places themselves, the second of these would be in
    /// that of the first, and the last is longer than a file system takes with an ending.
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void noKeyLeadsIntoThePlaceOfAnother(boolean remote) throws Exception {
        var keys = List.of("a", "a.parts/x", "a.parts/0123456789abcdef", "n".repeat(252));
        try (var s3 = S3Server.start().createBucket("bucket");
                var storage = Impatient.storage(s3.endpoint())) {
            var output = remote ? storage.at("s3://bucket/out") : output();
            for (var key : keys) {
                var left = new Checkpoints(output, "job").open(object(key), true);
                left.keep(1, 1, new byte[MOST_IN_PART]);
                left.keep(2, 1, bytes(key));
                left.end(false);
            }
            for (var key : keys) {
                var next = new Checkpoints(output, "job").open(object(key), true);
                assertThat(next.answer(2, 1)).as(key).hasValue(bytes(key));
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

    private Path part(int number) throws IOException {
        try (var files = Files.walk(directory)) {
            return files.filter(file -> file.endsWith("%09d".formatted(number)))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes();
    }
}
