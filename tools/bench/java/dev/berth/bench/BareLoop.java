package dev.berth.bench;

import dev.berth.handler.qa.QuestionAnsweringHandler;
import dev.berth.handler.qa.SpanModel;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/// Berth's question answering in a loop, without a server: what no server on top of it can exceed.
///
///     java BareLoop ARTIFACT BODIES THREADS WARM-SECONDS SECONDS
///
/// One thread has all cores for each forward, several have one each. Prints, as JSON, the answers of all threads, the
/// seconds that they took and how long each answer took in milliseconds.
final class BareLoop {

    private final QuestionAnsweringHandler handler;
    private final SpanModel model;
    private final List<byte[]> bodies;

    private BareLoop(Path artifact, List<byte[]> bodies, int threads) throws IOException {
        var profile = threads == 1 ? CpuProfile.LATENCY : CpuProfile.THROUGHPUT;
        var cpu = new Accelerator.Cpu(Runtime.getRuntime().availableProcessors(), profile);
        this.bodies = bodies;
        this.handler = new QuestionAnsweringHandler(artifact);
        this.model = handler.modelFn(new ModelContext(artifact, cpu, 0, List.of(cpu)));
        handler.warmUpFn(model);
    }

    static void main(String[] arguments) throws Exception {
        int threads = Integer.parseInt(arguments[2]);
        var bodies = Files.readAllLines(Path.of(arguments[1])).stream()
                .map(String::getBytes)
                .toList();
        double warm = Double.parseDouble(arguments[3]);
        double seconds = Double.parseDouble(arguments[4]);
        try (var pool = Executors.newFixedThreadPool(threads)) {
            // On the thread that asks it, where that is one: libgomp keeps a team for each thread that
            // ran a forward, and lets all of them sleep where together they are more than the cores.
            var loop = pool.submit(() -> new BareLoop(Path.of(arguments[0]), bodies, threads))
                    .get();
            run(pool.invokeAll(loop.parts(threads, warm)));
            long begin = System.nanoTime();
            var times = run(pool.invokeAll(loop.parts(threads, seconds)));
            double took = (System.nanoTime() - begin) / 1e9;
            System.out.println(
                    "{\"answers\": " + times.size() + ", \"seconds\": " + took + ", \"times\": " + times + "}");
        }
    }

    private static List<Double> run(List<Future<List<Double>>> parts) throws Exception {
        var times = new ArrayList<Double>();
        for (var part : parts) {
            times.addAll(part.get());
        }
        return times;
    }

    /// A loop for each thread; they begin at different bodies.
    private List<Callable<List<Double>>> parts(int threads, double seconds) {
        var parts = new ArrayList<Callable<List<Double>>>();
        for (int t = 0; t < threads; t++) {
            int first = bodies.size() / threads * t;
            parts.add(() -> loop(first, seconds));
        }
        return parts;
    }

    private List<Double> loop(int first, double seconds) throws IOException {
        var times = new ArrayList<Double>();
        long end = System.nanoTime() + (long) (seconds * 1e9);
        for (int i = first; System.nanoTime() < end; i++) {
            long begin = System.nanoTime();
            answer(bodies.get(i % bodies.size()));
            times.add((System.nanoTime() - begin) / 1e6);
        }
        return times;
    }

    private void answer(byte[] body) throws IOException {
        var request = new InvocationRequest(
                new ByteArrayInputStream(body), MediaType.JSON, MediaType.JSON, Optional.empty(), "", false);
        handler.outputFn(handler.predictFn(handler.inputFn(request), model), request);
    }
}
