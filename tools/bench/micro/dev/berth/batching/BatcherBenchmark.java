package dev.berth.batching;

import dev.berth.benchmark.Defaults;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.metrics.ServingMetrics;
import dev.berth.telemetry.RequestTrace;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;

/// The way of one request of one record through the queue to a worker and back, with a predictor
/// that returns at once. Two workers and batches of one, as on a CPU of two cores; callers on
/// virtual threads, as the server's requests are.
@State(Scope.Benchmark)
@Fork(
        value = 1,
        jvmArgsAppend = {"-Djmh.executor=VIRTUAL"})
public class BatcherBenchmark extends Defaults {

    private static final Pieces<String> REQUEST = new Pieces<>(
            List.of("record"),
            List.of("record"),
            new int[] {175},
            new int[] {1},
            new Pieces.Sizes(new int[] {1}, new int[] {1}));
    private static final Caller CALLER = new Caller(() -> false, Map.of(), RequestTrace.NONE);
    private static final long TIMEOUT = Duration.ofMinutes(1).toNanos();

    /// Answers each record with itself.
    private record Echo() implements Predictor<String, String> {

        @Override
        public List<String> predict(List<String> records) {
            return records;
        }

        @Override
        public void close() {}
    }

    private record Sink(long deadlineNanos) implements PartSink<String> {

        @Override
        public void take(int index, String part) {}
    }

    private ServingMetrics metrics;
    private Batcher<String, String> batcher;

    @Setup
    public void start() throws Exception {
        metrics = new ServingMetrics();
        var cpu = new Accelerator.Cpu(2, CpuProfile.ADAPTIVE);
        batcher = Batcher.open(
                "the echo",
                new WorkerPool(List.of(cpu, cpu)),
                new BatchLimits(1, 16_384, Duration.ZERO, 100, Duration.ZERO),
                _ -> new Echo(),
                System::nanoTime,
                metrics.ofModel("echo"));
    }

    @TearDown
    public void stop() {
        batcher.close();
        metrics.close();
    }

    @Benchmark
    @Threads(1)
    public Void oneCaller() throws InterruptedException, ExecutionException {
        return predict();
    }

    @Benchmark
    @Threads(8)
    public Void eightCallers() throws InterruptedException, ExecutionException {
        return predict();
    }

    private Void predict() throws InterruptedException, ExecutionException {
        var sink = new Sink(System.nanoTime() + TIMEOUT);
        return batcher.submit(REQUEST, sink, CALLER).predicted().get();
    }
}
