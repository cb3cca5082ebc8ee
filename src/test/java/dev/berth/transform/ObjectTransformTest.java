package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.content.BatchStrategy;
import dev.berth.memory.MemoryBudget;
import dev.berth.storage.Location;
import dev.berth.storage.S3Options;
import dev.berth.storage.Storage;
import dev.berth.storage.StoredObject;
import dev.berth.testing.Gate;
import dev.berth.transform.checkpoint.Checkpoints;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ObjectTransformTest {

  private static final int MEBIBYTE = 1 << 20;

  @TempDir private Path directory;

  @Test
  void onlySoManyPayloadsAreReadAheadHoweverSmall() throws Exception {
    assertReadAhead("x\n".repeat(100), new MemoryBudget(8 * MEBIBYTE), MEBIBYTE, 8);
  }

  @Test
  void payloadsHaveMemoryForFourCopiesOfThemselves() throws Exception {
    assertReadAhead(
        ("x".repeat(MEBIBYTE - 1) + "\n").repeat(5), new MemoryBudget(13 * MEBIBYTE), 1, 3);
  }

  @Test
  void aPayloadLargerThanAllMemoryIsAlone() throws Exception {
    assertReadAhead(("x".repeat(MEBIBYTE - 1) + "\n").repeat(3), new MemoryBudget(MEBIBYTE), 1, 1);
  }

  /// As with the lines of a service for batches, which have no limit but that of a request.
  @Test
  void shortRecordsAreReadAheadWhereALongOneMayTakeAllMemory() throws Exception {
    assertReadAhead(
        "x\n".repeat(20) + "x".repeat(MEBIBYTE - 1) + "\n" + "x\n".repeat(20),
        new MemoryBudget(4 * MEBIBYTE),
        MEBIBYTE,
        4);
  }

  private void assertReadAhead(String lines, MemoryBudget memory, long leastShare, int payloads)
      throws Exception {
    var input = Files.writeString(directory.resolve("lines"), lines);
    var gate = new Gate(payloads);
    var sent = new AtomicInteger();
    Exchange exchange =
        (payload, _) -> {
          sent.incrementAndGet();
          gate.pass();
          return ((Payload.MiniBatch) payload).body();
        };
    try (var storage = new Storage(S3Options.DEFAULT);
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var transform =
          new ObjectTransform(
              new ObjectSource(storage, false),
              new Splitting(SplitType.LINE, BatchStrategy.SINGLE_RECORD, MEBIBYTE),
              Optional.empty(),
              Optional.empty(),
              exchange,
              threads,
              new ObjectTurns(payloads, () -> false),
              memory,
              leastShare,
              new Checkpoints(storage, Location.of(directory.toString()), ""),
              true,
              new Unwatched(),
              Optional.empty());
      var object = new StoredObject(Location.of(input.toString()), "lines", Files.size(input));
      var output = Location.of(directory.resolve("out").toString());
      var records =
          threads.submit(
              () -> transform.transform(new ObjectRange(object, 0, 1), output, new LongAdder()));
      gate.awaitArrival();
      assertThat(memory.tryTake(4 * MEBIBYTE)).isEmpty();
      assertThat(sent).hasValue(payloads);
      gate.open();
      assertThat(records.get()).hasValue(lines.lines().count());
      assertThat(directory.resolve("out")).hasContent(lines);
    }
    assertThat(memory.tryTake(memory.bytes())).isPresent();
  }
}
