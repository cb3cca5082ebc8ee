package dev.berth.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.metrics.ServingMetrics;
import dev.berth.telemetry.RequestTrace;
import dev.berth.testing.TestThreads;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/// A batcher with a [FakeModel], and callers on virtual threads. A record's length is its number of
/// characters.
final class Serving implements AutoCloseable {

    static final Duration LONG = Duration.ofMinutes(1);

    final FakeModel model;
    final ServingMetrics metrics = new ServingMetrics();
    final Batcher<String, String> batcher;

    private final ExecutorService callers = new TestThreads();

    /// @param pool where its workers take turns with those of other models
    Serving(FakeModel model, WorkerPool pool, BatchLimits limits) throws Exception {
        this.model = model;
        this.batcher = Batcher.open("the model", pool, limits, model, System::nanoTime, metrics.ofModel("words"));
    }

    static WorkerPool pool(int workers) {
        return new WorkerPool(Collections.nCopies(workers, new Accelerator.Cpu(1, CpuProfile.ADAPTIVE)));
    }

    Future<List<String>> ask(String... records) {
        return ask(LONG, () -> false, records);
    }

    Future<List<String>> ask(Duration timeout, BooleanSupplier abandoned, String... records) {
        return callers.submit(() -> predict(
                batcher,
                List.of(records),
                System.nanoTime() + timeout.toNanos(),
                new Caller(abandoned, Map.of(), RequestTrace.NONE)));
    }

    /// Submits records and waits for their predictions as a request does.
    ///
    /// @throws ServingException where the server refuses it
    /// @throws ExecutionException with what the predictor threw
    static List<String> predict(Batcher<String, String> batcher, List<String> records, long deadline, Caller caller)
            throws InterruptedException, ExecutionException {
        var parts = parts(records.size(), deadline);
        var submission = batcher.submit(pieces(records), parts, caller);
        awaitEnd(batcher, submission, deadline, System::nanoTime);
        return parts.all();
    }

    static void awaitEnd(
            Batcher<String, String> batcher, Submission<String, String> submission, long deadline, LongSupplier clock)
            throws InterruptedException, ExecutionException {
        while (true) {
            try {
                long left = deadline - clock.getAsLong();
                var _ = submission.predicted().get(Math.max(left / 2, 1_000_000), TimeUnit.NANOSECONDS);
                return;
            } catch (TimeoutException _) {
                batcher.ask(submission);
            } catch (InterruptedException e) {
                batcher.abandon(submission);
                throw e;
            } catch (ExecutionException e) {
                if (e.getCause() instanceof ServingException refused) {
                    throw refused;
                }
                throw e;
            }
        }
    }

    /// Where predictions go, one for each piece.
    record Parts(AtomicReferenceArray<String> predictions, long deadlineNanos) implements PartSink<String> {
        @Override
        public void take(int index, String part) {
            predictions.set(index, part);
        }

        List<String> all() {
            return IntStream.range(0, predictions.length())
                    .mapToObj(predictions::get)
                    .toList();
        }
    }

    static Parts parts(int pieces, long deadline) {
        return new Parts(new AtomicReferenceArray<>(pieces), deadline);
    }

    /// Records of one piece each, as long as they have characters.
    static Pieces<String> pieces(List<String> records) {
        return whole(records, records.stream().mapToInt(String::length).toArray());
    }

    /// Sends a `hold` and returns when it is all that runs.
    Future<List<String>> askAndHold() {
        var held = ask("hold");
        awaitRunning("hold");
        return held;
    }

    /// Holds a worker with a `hold` whose answer nobody looks at.
    void holdWorker() {
        var _ = askAndHold();
    }

    /// Asks and returns when the request waits.
    Future<List<String>> askAndWait(String... records) {
        int before = depth();
        var asked = ask(records);
        awaitDepth(before + 1);
        return asked;
    }

    void awaitDepth(int depth) {
        await().until(() -> depth() == depth);
    }

    int depth() {
        return batcher.locked(batcher.line::size);
    }

    void awaitRunning(String... records) {
        await().until(() -> !model.batches.isEmpty() && model.batches.getLast().equals(List.of(records)));
    }

    static void assertAnswered(Future<List<String>> asked, String... expected) throws Exception {
        assertThat(asked.get()).containsExactly(expected);
    }

    static void assertRefused(Future<List<String>> asked, ErrorType type) {
        assertThatThrownBy(asked::get)
                .cause()
                .isInstanceOfSatisfying(
                        ServingException.class, e -> assertThat(e.type()).isEqualTo(type));
    }

    @Override
    public void close() {
        model.release();
        batcher.close();
        callers.close();
        metrics.close();
    }

    /// Records that are one piece each.
    static <I> Pieces<I> whole(List<I> records, int[] lengths) {
        var counts = new int[records.size()];
        Arrays.fill(counts, 1);
        return new Pieces<>(records, records, lengths, counts, ones(counts.length, counts.length));
    }

    /// No record is a block of several.
    static Pieces.Sizes ones(int records, int pieces) {
        var sizes = new Pieces.Sizes(new int[records], new int[pieces]);
        Arrays.fill(sizes.records(), 1);
        Arrays.fill(sizes.pieces(), 1);
        return sizes;
    }
}
