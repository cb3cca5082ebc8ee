package dev.berth.handler.qa;

import dev.berth.benchmark.Defaults;
import dev.berth.tokenizer.Tokens;
import java.util.Random;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/// From the logits of one window to its best spans.
@State(Scope.Benchmark)
public class SpanSearchBenchmark extends Defaults {

    private static final int TOKENS = 384;

    @Param({"1", "5"})
    public int topK;

    private Parameters parameters;
    private Tokens context;
    private float[] start;
    private float[] end;

    @Setup
    public void prepare() {
        parameters = Parameters.defaults(512).withTopK(topK);
        var positions = IntStream.range(0, TOKENS).toArray();
        var ends = IntStream.rangeClosed(1, TOKENS).toArray();
        context = new Tokens(
                new long[TOKENS],
                positions,
                ends,
                IntStream.of(positions).asLongStream().toArray());
        var random = new Random(7);
        start = logits(random);
        end = logits(random);
    }

    /// Noise with one likely place, as a model that knows the answer gives.
    private static float[] logits(Random random) {
        var logits = new float[TOKENS];
        for (int i = 0; i < TOKENS; i++) {
            logits[i] = (float) (random.nextGaussian() * 2 - 6);
        }
        logits[TOKENS / 2 + random.nextInt(10)] = 5;
        return logits;
    }

    @Benchmark
    public Spans search() {
        return new SpanSearch(parameters, true, context).of(new SpanModel.Logits(start, end, TOKENS), 0, 0, 0, TOKENS);
    }
}
