package dev.berth.transform.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.storage.Location;
import dev.berth.storage.S3Options;
import dev.berth.storage.Storage;
import dev.berth.storage.StoredObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Journals in a directory, as a job that was killed leaves them.
class CheckpointsTest {

  @TempDir private Path directory;

  private final Storage storage = new Storage(S3Options.DEFAULT);

  @AfterEach
  void close() {
    storage.close();
  }

  @Test
  void answersAreKeptInTheOrderOfTheirArrival() {
    var first = open("job", true);
    first.arrived(11, 10, bytes("second"));
    first.arrived(1, 10, bytes("first"));
    first.keep();
    var next = open("job", true);
    assertThat(next.answer(1, 10)).hasValue(bytes("first"));
    assertThat(next.answer(11, 10)).hasValue(bytes("second"));
    assertThat(next.answer(11, 9)).as("of another number of records").isEmpty();
    assertThat(next.answer(21, 10)).isEmpty();
    next.arrived(21, 10, bytes("third"));
    next.keep();
    assertThat(open("job", true).answer(21, 10)).hasValue(bytes("third"));
  }

  @Test
  void whatWasCutOffIsMadeAgain() throws IOException {
    var written = open("job", true);
    written.arrived(1, 1, bytes("one"));
    written.arrived(2, 1, bytes("two"));
    written.keep();
    var file = journal();
    var whole = Files.readAllBytes(file);
    for (int length = whole.length - 1; length >= whole.length / 2; length--) {
      Files.write(file, Arrays.copyOf(whole, length));
      var cut = open("job", true);
      assertThat(cut.answer(1, 1)).hasValue(bytes("one"));
      assertThat(cut.answer(2, 1)).isEmpty();
      cut.arrived(2, 1, bytes("again"));
      cut.keep();
      assertThat(open("job", true).answer(2, 1)).hasValue(bytes("again"));
    }
  }

  /// As after a loss of power.
  @Test
  void bytesThatNeverReachedTheDiskAreNoAnswer() throws IOException {
    var written = open("job", true);
    written.arrived(1, 1, bytes("one"));
    written.arrived(2, 1, bytes("two"));
    written.keep();
    var file = journal();
    var whole = Files.readAllBytes(file);
    var zeros = whole.clone();
    Arrays.fill(zeros, Frame.BYTES, Frame.BYTES + 3, (byte) 0);
    Files.write(file, zeros);
    var left = open("job", true);
    assertThat(left.answer(1, 1)).isEmpty();
    assertThat(left.answer(2, 1)).hasValue(bytes("two"));
    left.keep();
    Files.write(file, Arrays.copyOf(Arrays.copyOf(whole, whole.length / 2), whole.length + 100));
    var padded = open("job", true);
    assertThat(padded.answer(1, 1)).hasValue(bytes("one"));
    assertThat(padded.answer(2, 1)).isEmpty();
    padded.keep();
  }

  @Test
  void ofAnotherJobAndToBeginAnewNothingCounts() throws IOException {
    for (boolean goOn : new boolean[] {true, false}) {
      var written = open("job", true);
      written.arrived(1, 1, bytes("one"));
      written.keep();
      var next = open(goOn ? "another job" : "job", goOn);
      assertThat(next.answer(1, 1)).isEmpty();
      assertThat(directory.resolve(".berth-parts/a.txt.parts")).isEmptyDirectory();
      next.end();
    }
  }

  @Test
  void anObjectThatIsDoneLeavesNothing() {
    var written = open("job", true);
    written.arrived(1, 1, bytes("one"));
    written.end();
    new Checkpoints(storage, output(), "job").end();
    assertThat(directory).isEmptyDirectory();
  }

  /// A file is where the directory would be.
  @Test
  void anObjectDoesNotFailWhereItsJournalCannotBeWritten() throws IOException {
    Files.writeString(directory.resolve(".berth-parts"), "");
    var written = open("job", true);
    written.arrived(1, 1, bytes("one"));
    assertThat(written.answer(1, 1)).isEqualTo(Optional.empty());
    written.end();
  }

  private Checkpoint open(String settings, boolean goOn) {
    var object = new StoredObject(Location.of("s3://in/a.txt"), "a.txt", 100);
    return new Checkpoints(storage, output(), settings).open(object, goOn);
  }

  private Location output() {
    return Location.of(directory.toString());
  }

  private Path journal() throws IOException {
    try (var files = Files.list(directory.resolve(".berth-parts/a.txt.parts"))) {
      return files.findFirst().orElseThrow();
    }
  }

  private static byte[] bytes(String text) {
    return text.getBytes();
  }
}
