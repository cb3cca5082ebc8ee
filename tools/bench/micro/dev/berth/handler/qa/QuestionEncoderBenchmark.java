package dev.berth.handler.qa;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.artifact.ModelArtifact;
import dev.berth.benchmark.Defaults;
import dev.berth.benchmark.Payloads;
import dev.berth.handler.task.TaskInput;
import dev.berth.tokenizer.Encoding;
import dev.berth.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/// From a question to the row that the model reads, with the sample's tokenizer: the native part of
/// a request beside the model itself, and so the scale for all others.
@State(Scope.Benchmark)
public class QuestionEncoderBenchmark extends Defaults {

    private static final int TOKENS = 175;

    private final TaskInput<Parameters> question = new TaskInput<>(
            JsonNodeFactory.instance
                    .objectNode()
                    .put("question", Payloads.QUESTION)
                    .put("context", Payloads.CONTEXT),
            "body",
            Parameters.defaults(512),
            true);

    private Tokenizer tokenizer;
    private QuestionEncoder encoder;

    @Setup
    public void load() throws IOException {
        var artifact = ModelArtifact.open(Path.of("model-artifact"));
        tokenizer = Tokenizer.load(artifact.tokenizer());
        encoder = new QuestionEncoder(tokenizer, artifact.maxSequenceLength());
        int tokens = encode().ids().length;
        if (tokens != TOKENS) {
            throw new IllegalStateException("the question has %d tokens, expected %d".formatted(tokens, TOKENS));
        }
    }

    @TearDown
    public void close() {
        tokenizer.close();
    }

    @Benchmark
    public Encoding encode() {
        return encoder.encode(question, new HashMap<>()).row(0);
    }
}
