package dev.berth.bench;

import dev.berth.artifact.ModelArtifact;
import dev.berth.engine.Graph;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.hooks.Tensor;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Compares the model files of artifacts in one process: the same rows, in turn, on all cores.
///
///     java FileRace ROUNDS MILLISECONDS LENGTHS ARTIFACT OTHER...
///
/// `LENGTHS` are numbers of tokens, such as `28,128,175,384`. There is a thread for each core, and each forward has one
/// core. In each round every artifact is asked for some milliseconds at each length, in another order than the round
/// before. Prints, for each length and artifact, the median time of a forward and the median of its ratios to the first
/// artifact within a round: by the clock, and by the processor's time, which other processes disturb less. The last
/// column is
/// the largest difference of a logit from the first artifact's.
final class FileRace {

    private static final int CORES = Runtime.getRuntime().availableProcessors();
    private static final Accelerator CPU = new Accelerator.Cpu(CORES, CpuProfile.THROUGHPUT);
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    /// TorchScript is compiled in the first calls.
    private static final int WARM_FORWARDS = 10;

    /// What a forward took, in milliseconds.
    private record Time(double clock, double processor) {}

    private final Map<String, Graph> files = new LinkedHashMap<>();
    private final Map<String, List<String>> inputs = new LinkedHashMap<>();
    private final long nanos;

    private FileRace(List<String> artifacts, int milliseconds) {
        nanos = milliseconds * 1_000_000L;
        for (var name : artifacts) {
            var artifact = ModelArtifact.open(Path.of(name));
            if (!artifact.shapes().isDynamic()) {
                throw new IllegalArgumentException(name + ": found compiled shapes, expected one file for all of them");
            }
            files.put(name, Graph.load(artifact.modelFiles().getFirst(), CPU));
            inputs.put(name, artifact.inputs());
        }
    }

    static void main(String[] arguments) throws Exception {
        int rounds = Integer.parseInt(arguments[0]);
        var lengths =
                Arrays.stream(arguments[2].split(",")).map(Integer::valueOf).toList();
        var race = new FileRace(List.of(arguments).subList(3, arguments.length), Integer.parseInt(arguments[1]));
        System.out.println("| tokens | artifact | ms | clock | processor | logits |");
        System.out.println("|--:|---|--:|--:|--:|--:|");
        try (var pool = Executors.newFixedThreadPool(CORES)) {
            for (int length : lengths) {
                race.run(length, rounds, pool);
            }
        }
        race.files.values().forEach(Graph::close);
    }

    private void run(int length, int rounds, ExecutorService pool) throws Exception {
        var names = new ArrayList<>(files.keySet());
        var times = new LinkedHashMap<String, List<Time>>();
        names.forEach(name -> times.put(name, new ArrayList<>()));
        names.forEach(name -> IntStream.range(0, WARM_FORWARDS).forEach(_ -> forward(name, length)));
        var order = new ArrayList<>(names);
        for (int round = 0; round < rounds; round++) {
            for (var name : order) {
                times.get(name).add(ask(name, length, pool));
            }
            order.addLast(order.removeFirst());
        }
        var first = times.get(names.getFirst());
        for (var name : names) {
            var of = times.get(name);
            System.out.printf(
                    "| %d | %s | %.2f | %.3f | %.3f | %.2g |%n",
                    length,
                    Path.of(name).getFileName(),
                    median(of.stream().map(Time::processor)),
                    median(IntStream.range(0, rounds).mapToObj(i -> of.get(i).clock / first.get(i).clock)),
                    median(IntStream.range(0, rounds).mapToObj(i -> of.get(i).processor / first.get(i).processor)),
                    difference(forward(names.getFirst(), length), forward(name, length)));
        }
    }

    /// What a forward takes when all cores are busy with such forwards.
    private Time ask(String name, int length, ExecutorService pool) throws Exception {
        Callable<Time> loop = () -> {
            long begin = System.nanoTime();
            long used = THREADS.getCurrentThreadCpuTime();
            int forwards = 0;
            for (; forwards == 0 || System.nanoTime() - begin < nanos; forwards++) {
                forward(name, length);
            }
            return new Time(
                    (System.nanoTime() - begin) / 1e6 / forwards,
                    (THREADS.getCurrentThreadCpuTime() - used) / 1e6 / forwards);
        };
        var parts = new ArrayList<Time>();
        for (var part :
                pool.invokeAll(IntStream.range(0, CORES).mapToObj(_ -> loop).toList())) {
            parts.add(part.get());
        }
        return new Time(
                parts.stream().mapToDouble(Time::clock).average().orElseThrow(),
                parts.stream().mapToDouble(Time::processor).average().orElseThrow());
    }

    /// One row of the ids 1000 to 1999, all of it text, the second half of the second type.
    private List<Tensor> forward(String name, int length) {
        var tensors = inputs.get(name).stream()
                .map(input -> Tensor.of(
                        switch (input) {
                            case "input_ids" ->
                                new Random(length).longs(length, 1000, 2000).toArray();
                            case "attention_mask" ->
                                IntStream.range(0, length).mapToLong(_ -> 1).toArray();
                            case "token_type_ids" ->
                                IntStream.range(0, length)
                                        .mapToLong(i -> 2 * i / length)
                                        .toArray();
                            default ->
                                throw new IllegalArgumentException(
                                        "%s: found the input %s, expected one of a BERT".formatted(name, input));
                        },
                        1,
                        length))
                .toList();
        return files.get(name).forward(tensors, 1);
    }

    private static double difference(List<Tensor> these, List<Tensor> those) {
        double largest = 0;
        for (int i = 0; i < these.size(); i++) {
            var one = these.get(i).floats();
            var other = those.get(i).floats();
            largest = Math.max(
                    largest,
                    IntStream.range(0, one.length)
                            .mapToDouble(j -> Math.abs(one[j] - other[j]))
                            .max()
                            .orElseThrow());
        }
        return largest;
    }

    private static double median(Stream<Double> values) {
        var sorted = values.sorted().toList();
        int half = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(half) : (sorted.get(half - 1) + sorted.get(half)) / 2;
    }
}
