package dev.berth.handler.qa;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.handler.task.Row;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.hooks.ModelContext;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Artifacts of compiled shapes, as for Neuron, whose TorchScript refuses any other.
/// `ReferenceTest` compares their answers; this is about which shape is taken, and which copy of
/// the model.
class CompiledShapesTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Accelerator CPU = new Accelerator.Cpu(1, CpuProfile.ADAPTIVE);

    @TempDir
    private Path directory;

    /// @param most how many rows of the length go through one forward
    @ParameterizedTest
    @CsvSource({
        "1,10,1,32,1",
        "1,32,1,32,1",
        "1,33,1,128,4",
        "2,10,4,128,1",
        "2,100,4,128,4",
        "4,128,4,128,4",
        "1,129,2,384,2",
        "2,384,2,384,2"
    })
    void rowsGoThroughTheSmallestShapeThatTheyFit(int rows, int length, int batch, int sequence, int most)
            throws Exception {
        try (var handler = new QuestionAnsweringHandler(artifact("cpu"))) {
            var model = load(handler);
            var logits = model.forward(Collections.nCopies(rows, new Row(new long[length], new long[length])));
            assertThat(logits.columns()).isEqualTo(sequence);
            assertThat(logits.start()).hasSize(batch * sequence);
            assertThat(model.rowsOfAForward(length)).isEqualTo(most);
        }
    }

    @Test
    void aBatchIsNoLargerThanTheLargestShape() throws Exception {
        try (var server = TestServer.artifact(artifact("cpu")).start("SAGEMAKER_MODEL_SERVER_WORKERS=1")) {
            var line = JSON.writeValueAsString(Map.of("question", "Who came?", "context", "Bob came. ".repeat(20)));
            var lines = String.join("\n", Collections.nCopies(10, line));
            var answers =
                    server.invoke(lines, "Content-Type", "application/jsonlines", "Accept", "application/jsonlines");
            assertThat(answers.body().lines()).hasSize(10);
            assertThat(server.get("/metrics").body())
                    .contains("berth_batch_size_count{model=\"model\"} 3")
                    .contains("berth_batch_size_sum{model=\"model\"} 10");
        }
    }

    @Test
    void moreTokensThanTheLongestShapeCannotBeAskedFor() throws Exception {
        try (var server = TestServer.artifact(artifact("cpu")).start()) {
            var body =
                    "{\"inputs\": {\"question\": \"Who?\", \"context\": \"Bob.\"}, \"parameters\": {\"max_seq_len\": 385}}";
            assertThat(server.invoke(body).body())
                    .contains("max_seq_len: found 385, expected a whole number from 1 to 384");
        }
    }

    /// A NeuronCore for each copy, and CPU tensors for all: everything but the chip.
    @Test
    void everyNeuronCoreHasACopyAndItsWorkersShareIt() throws Exception {
        var cores = List.<Accelerator>of(new Accelerator.Inf2(0), new Accelerator.Inf2(1));
        try (var handler = new QuestionAnsweringHandler(artifact("inf2"))) {
            var copies = new HashMap<Accelerator, SpanModel>();
            for (int worker = 0; worker < 4; worker++) {
                var core = cores.get(worker % 2);
                var model = handler.modelFn(new ModelContext(directory, core, worker, cores));
                assertThat(copies.computeIfAbsent(core, _ -> model)).isSameAs(model);
                handler.warmUpFn(model);
            }
            assertThat(new HashSet<>(copies.values())).hasSize(2);
        }
    }

    private TracedSpanModel load(QuestionAnsweringHandler handler) {
        return (TracedSpanModel) handler.modelFn(new ModelContext(directory, CPU, 0, List.of(CPU)));
    }

    private Path artifact(String target) throws Exception {
        return TestArtifact.compiled(
                directory, target, "waves-2x384.pt", "waves-1x32.pt", "waves-4x128.pt", "waves-1x128.pt");
    }
}
