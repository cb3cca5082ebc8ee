package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.content.BatchStrategy;
import dev.berth.storage.Storage;
import dev.berth.storage.StoredObject;
import dev.berth.testing.Gate;
import dev.berth.testing.TestThreads;
import dev.berth.transform.checkpoint.Checkpoints;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ObjectTransformTest {

    private static final int MEBIBYTE = 1 << 20;

    @TempDir
    private Path directory;

    @Test
    void onlySoManyPayloadsAreReadAheadHoweverSmall() throws Exception {
        assertReadAhead("x\n".repeat(100), new JobMemory(8 * MEBIBYTE, MEBIBYTE, 1, 8), 8);
    }

    @Test
    void payloadsHaveMemoryForFourCopiesOfThemselves() throws Exception {
        assertReadAhead(("x".repeat(MEBIBYTE - 1) + "\n").repeat(5), new JobMemory(13 * MEBIBYTE, 1, 1, 3), 3);
    }

    @Test
    void aPayloadLargerThanAllMemoryIsAlone() throws Exception {
        assertReadAhead(("x".repeat(MEBIBYTE - 1) + "\n").repeat(3), new JobMemory(MEBIBYTE, 1, 1, 1), 1);
    }

    /// As with the lines of a service for batches, which have no limit but that of a request.
    @Test
    void shortRecordsAreReadAheadWhereALongOneMayTakeAllMemory() throws Exception {
        assertReadAhead(
                "x\n".repeat(20) + "x".repeat(MEBIBYTE - 1) + "\n" + "x\n".repeat(20),
                new JobMemory(4 * MEBIBYTE, MEBIBYTE, 1, 4),
                4);
    }

    @Test
    void anAnswerLongerThanUsualWaitsUnlessItsRequestIsTheOldest() throws Exception {
        var memory = new JobMemory(8 * MEBIBYTE, MEBIBYTE, 1, 2);
        try (var threads = new TestThreads();
                var oldest = memory.take(MEBIBYTE);
                var other = memory.take(MEBIBYTE)) {
            var asked = new CountDownLatch(1);
            var done = new CountDownLatch(1);
            var first = threads.submit(() -> oldest.ask(() -> {
                asked.countDown();
                done.await();
                oldest.receive(12 * MEBIBYTE);
                return 1;
            }));
            asked.await();
            var waits = new CountDownLatch(1);
            var second = threads.submit(() -> other.ask(() -> {
                waits.countDown();
                other.receive(7 * MEBIBYTE);
                return 2;
            }));
            waits.await();
            assertThatThrownBy(() -> second.get(50, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
            done.countDown();
            assertThat(first.get()).isEqualTo(1);
            oldest.close();
            assertThat(second.get()).isEqualTo(2);
            other.ask(() -> {
                other.received(7 * MEBIBYTE);
                return 3;
            });
        }
        try (var next = memory.take(1)) {
            assertThat(memory.tryTake(1))
                    .as("each has room for an answer as long")
                    .isEmpty();
            assertThat(next.tryHold(8 * MEBIBYTE)).isTrue();
        }
        assertThatThrownBy(() -> memory.take(1).receive(17 * MEBIBYTE))
                .hasMessageStartingWith("the answer: found more than 16 MB, expected less");
    }

    /// As with a payload that is sent again in halves.
    @Test
    void anAnswerThatWaitsForRoomKeepsNothingThatTheOldestMayWaitFor() throws Exception {
        var memory = new JobMemory(8 * MEBIBYTE, MEBIBYTE, 1, 2);
        try (var threads = new TestThreads();
                var oldest = memory.take(MEBIBYTE);
                var other = memory.take(MEBIBYTE)) {
            var isAsked = new CountDownLatch(1);
            var hasFirst = new CountDownLatch(1);
            var first = threads.submit(() -> oldest.ask(() -> {
                isAsked.countDown();
                hasFirst.await();
                oldest.receive(8 * MEBIBYTE);
                oldest.received(8 * MEBIBYTE);
                return 1;
            }));
            isAsked.await();
            var second = threads.submit(() -> other.ask(() -> {
                other.receive(2 * MEBIBYTE);
                other.received(2 * MEBIBYTE);
                hasFirst.countDown();
                other.receive(6 * MEBIBYTE);
                return 2;
            }));
            assertThat(first.get()).isEqualTo(1);
            oldest.close();
            assertThat(second.get()).isEqualTo(2);
        }
    }

    private void assertReadAhead(String lines, JobMemory memory, int payloads) throws Exception {
        var input = Files.writeString(directory.resolve("lines"), lines);
        var gate = new Gate(payloads);
        var sent = new AtomicInteger();
        Exchange exchange = (payload, _, _) -> {
            sent.incrementAndGet();
            gate.pass();
            return ((Payload.MiniBatch) payload).body();
        };
        try (var storage = new Storage();
                var threads = new TestThreads()) {
            var transform = new ObjectTransform(
                    TransformJob.read(
                            storage,
                            JobFlags.of("--input %s --output %s", input, directory.resolve("out")),
                            Map.of(),
                            Map.of()),
                    new Splitting(FramedSplit.LINE, BatchStrategy.SINGLE_RECORD, MEBIBYTE),
                    exchange,
                    new ObjectTransform.Shared(
                            threads,
                            new ObjectTurns(payloads, () -> false),
                            memory,
                            new Checkpoints(storage.at(directory.toString()), ""),
                            new Unwatched()));
            var object = new StoredObject(storage.at(input.toString()), "lines", Files.size(input));
            var output = storage.at(directory.resolve("out").toString());
            var records = threads.submit(() ->
                    transform.transform(new ObjectRange(object, 0, 1), output, Optional.empty(), new LongAdder()));
            gate.awaitArrival();
            assertThat(memory.tryTake(4 * MEBIBYTE)).isEmpty();
            assertThat(sent).hasValue(payloads);
            gate.open();
            assertThat(records.get()).isEqualTo(lines.lines().count());
            assertThat(directory.resolve("out")).hasContent(lines);
        }
        assertThat(memory.tryTake(memory.bytes())).isPresent();
    }
}
