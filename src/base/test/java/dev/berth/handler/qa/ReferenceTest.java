package dev.berth.handler.qa;

import static dev.berth.testing.QuestionReference.EXACT;
import static dev.berth.testing.QuestionReference.check;
import static dev.berth.testing.QuestionReference.lines;
import static dev.berth.testing.QuestionReference.parameters;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/// The answers of a port of the pipeline of `transformers` 4.53 (`trace/pipeline.py`), which runs
/// the same TorchScript file: the same texts, the same offsets, the same scores, the same order.
///
/// It is asked twice. With `waves.pt`, whose logits are the same on every CPU, scores must agree to
/// 1e-5, and small ones in their first four digits: that is the test of windows, offsets,
/// alignment, order and of every parameter. The sample model is dynamically quantised to int8,
/// where a last-bit difference of one CPU to another rounds an activation to the next of its 127
/// steps, and the change spreads. So each of its lines carries its `drift`, how far its scores
/// moved in Python when the weights were disturbed by 3e-7, and its `margin`, the gap to the next
/// best span; both bound what is demanded.
class ReferenceTest {

    @AutoClose
    private static TestServer sample;

    @AutoClose
    private static TestServer waves;

    @AutoClose
    private static TestServer compiled;

    @AutoClose
    private static TestServer japanese;

    @BeforeAll
    static void start(@TempDir Path any, @TempDir Path fixed) throws Exception {
        sample = TestServer.sample().start();
        waves = TestServer.artifact(TestArtifact.dynamic(any, "waves.pt")).start();
        compiled = TestServer.artifact(TestArtifact.compiled(
                        fixed, "cpu", "waves-2x384.pt", "waves-1x32.pt", "waves-4x128.pt", "waves-1x128.pt"))
                .start();
        japanese = TestServer.artifact(Path.of("src/test/resources/artifacts/japanese-roberta"))
                .start();
    }

    @TestFactory
    Stream<DynamicTest> withLogitsThatAreExactSoAreTheAnswers() throws IOException {
        return lines("question-answering-exact.jsonl.gz")
                .map(line -> test(line, () -> check(waves, line, EXACT, true)));
    }

    /// Each file refuses every shape but its own, so rows are padded to it and cut again, whatever
    /// their number and length.
    @TestFactory
    Stream<DynamicTest> compiledShapesChangeNothing() throws IOException {
        return lines("question-answering-exact.jsonl.gz")
                .filter(line -> parameters(line).path("max_seq_len").asInt() <= 384)
                .map(line -> test(line, () -> check(compiled, line, EXACT, true)));
    }

    /// QNNPACK, which computes int8 on aarch64, quantises otherwise: closer to fp32, and further from
    /// these answers.
    @TestFactory
    @Tag("slow")
    @EnabledOnOs(architectures = "amd64")
    Stream<DynamicTest> theSampleModelAnswersAsInPython() throws IOException {
        return lines("question-answering.jsonl")
                .map(line -> test(line, () -> {
                    var drift = line.path("drift").asDouble();
                    check(sample, line, 1e-3 + 2 * drift, line.path("margin").asDouble() > 2 * drift);
                }));
    }

    /// A RoBERTa with a Unigram tokenizer: no token types, no classification token, no spaces between
    /// words, and a normalisation that changes how many characters there are. Its weights are random
    /// and fp32.
    @TestFactory
    Stream<DynamicTest> aJapaneseRobertaAnswersAsInPython() throws IOException {
        return lines("japanese-roberta.jsonl").map(line -> test(line, () -> check(japanese, line, 1e-3, true)));
    }

    @Test
    void thereAreEnoughOfThem() throws IOException {
        assertThat(lines("question-answering.jsonl")).hasSizeGreaterThanOrEqualTo(60);
        assertThat(lines("question-answering-exact.jsonl.gz")).hasSizeGreaterThanOrEqualTo(200);
    }

    private static DynamicTest test(JsonNode line, Executable check) {
        return DynamicTest.dynamicTest(line.path("name").asText(), check);
    }
}
