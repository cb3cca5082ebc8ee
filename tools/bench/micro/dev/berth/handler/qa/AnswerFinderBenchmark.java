package dev.berth.handler.qa;

import dev.berth.benchmark.Defaults;
import dev.berth.handler.task.TaskRecord;
import dev.berth.tokenizer.RowTemplate;
import dev.berth.tokenizer.RowTemplate.Part;
import dev.berth.tokenizer.Tokens;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/// From the logits of one window to its best spans.
@State(Scope.Benchmark)
public class AnswerFinderBenchmark extends Defaults {

    private static final int TOKENS = 384;

    @Param({"1", "5"})
    public int topK;

    private List<TaskRecord<EncodedQuestion, Parameters>> records;
    private SpanModel.Logits logits;

    @Setup
    public void prepare() {
        var positions = IntStream.range(0, TOKENS).toArray();
        var ends = IntStream.rangeClosed(1, TOKENS).toArray();
        var context = new Tokens(
                new long[TOKENS],
                positions,
                ends,
                IntStream.of(positions).asLongStream().toArray());
        var parts = List.of(new Part(0, 0, -1), new Part(0, 0, 0), new Part(0, 0, 1));
        var question = new EncodedQuestion(
                new Question("", "question", "context"),
                context.part(0, 0),
                context,
                EncodedQuestion.Windows.over(TOKENS - 1, TOKENS - 1, 0),
                new RowTemplate(parts, parts));
        var random = new Random(7);
        records = List.of(new TaskRecord<>(question, Parameters.defaults(512).withTopK(topK)));
        logits = new SpanModel.Logits(logits(random), logits(random), TOKENS);
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
    public List<Spans> search() {
        return AnswerFinder.find(records, _ -> logits);
    }
}
