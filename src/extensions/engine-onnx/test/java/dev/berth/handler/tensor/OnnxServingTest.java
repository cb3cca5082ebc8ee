package dev.berth.handler.tensor;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.content.Npz;
import dev.berth.hooks.Tensor;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.OnnxModel;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// ONNX files that are served without a line of code, over HTTP.
class OnnxServingTest {

    @TempDir
    private Path parent;

    @AutoClose
    private TestServer server;

    private Path artifact;

    @BeforeEach
    void makeArtifact() throws IOException {
        artifact = Files.createDirectory(parent.resolve("artifact"));
    }

    @Test
    void aDirectoryWithAModelOnnxIsServed() throws Exception {
        OnnxModel.linear().write(artifact.resolve("model.onnx"));
        server = TestServer.artifact(artifact).start();
        assertThat(server.answer("{\"instances\": [[1, 2], [3, 4]]}"))
                .isEqualTo("{\"predictions\":[{\"y\":[8.0],\"twice\":[2.0,4.0]},{\"y\":[18.0],\"twice\":[6.0,8.0]}]}");
        assertThat(server.invoke("1,2\n3,4\n", "Content-Type", "text/csv").statusCode())
                .isEqualTo(200);
        var refused = server.invoke("{\"instances\": [[1, 2, 3]]}");
        assertStatus(refused, 400, "Got invalid dimensions for input: x");
        assertThat(refused.body()).doesNotContain("onnxruntime", artifact.toString());
    }

    @Test
    void inputsHaveTheTypesOfTheFile() throws Exception {
        OnnxModel.of("""
                in amount DOUBLE n; in count INT32 n; Cast count -> wide to=DOUBLE;
                Mul amount wide -> total; out total DOUBLE n""").write(artifact.resolve("model.onnx"));
        server = TestServer.artifact(artifact).start();
        assertThat(server.answer(
                        "{\"instances\": [{\"amount\": 16777217, \"count\": 2}, {\"count\": 3, \"amount\": 0.1}]}"))
                .as("no float32 on the way")
                .isEqualTo("{\"predictions\":[3.3554434E7,0.30000000000000004]}");
        assertStatus(
                server.invoke("{\"instances\": [{\"amount\": 1, \"count\": 2.5}]}"),
                400,
                "found 2.5, expected a whole number that is int32");
    }

    /// A voice detector's inputs: the sound, a state whose second dimension is the batch, and a rate.
    @Test
    void aModelWithoutADimensionForRecordsTakesTensorsAsTheyAre() throws Exception {
        OnnxModel.of("""
                in sound FLOAT batch samples; in state FLOAT 2 batch 1; in rate INT64;
                Cast rate -> times to=FLOAT; Mul sound times -> loud; Add state times -> next;
                out loud FLOAT batch samples; out next FLOAT 2 batch 1; out times FLOAT""").write(artifact.resolve("model.onnx"));
        var record = "{\"sound\": [[1, 2]], \"state\": [[[3]], [[4]]], \"rate\": %d}";
        var expected = "{\"loud\":[[%d.0,%d.0]],\"next\":[[[%d.0]],[[%d.0]]],\"times\":%d.0}".formatted(2, 4, 5, 6, 2);
        server = TestServer.artifact(artifact).start();
        assertThat(server.answer(record.formatted(2))).isEqualTo(expected);
        assertThat(server.answer("{\"instances\": [%s, %s]}".formatted(record.formatted(2), record.formatted(1))))
                .isEqualTo("{\"predictions\":[%s,%s]}"
                        .formatted(expected, "{\"loud\":[[1.0,2.0]],\"next\":[[[4.0]],[[5.0]]],\"times\":1.0}"));
        var arrays = Npz.write(new TreeMap<>(Map.of(
                "sound", Tensor.of(new float[] {1, 2}, 1, 1, 2),
                "state", Tensor.of(new float[] {3, 4}, 1, 2, 1, 1),
                "rate", Tensor.of(new long[] {2}, 1))));
        var response = server.invoke(
                BodyPublishers.ofByteArray(arrays), "Content-Type", "application/x-npz", "Accept", "application/json");
        assertThat(response.body()).isEqualTo("[%s]".formatted(expected));
        assertThat(server.invoke(record.formatted(2).replace("[[1, 2]]", "[1, 2]"))
                        .body())
                .contains("the model does not take [float32[2], float32[2, 1, 1], int64[]]: ");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      # The steps of a text line come first, as CTC wants them, and a score stands alone.
      in line FLOAT 1 2 width; Transpose line -> steps perm=[2,0,1]; ReduceSum line -> sum keepdims=0; out steps FLOAT 1 steps; out sum FLOAT ? | {"instances": [[[1, 2, 3], [4, 5, 6]], [[1, 2], [3, 4]]]} | {"predictions":[{"steps":[[[1.0,4.0]],[[2.0,5.0]],[[3.0,6.0]]],"sum":21.0},{"steps":[[[1.0,3.0]],[[2.0,4.0]]],"sum":10.0}]}
      # A score without a dimension is a number for one record, and a list for several.
      in x FLOAT n 1; Squeeze x -> score; out score FLOAT | [[7]] | [7.0]
      in x FLOAT n 1; Squeeze x -> score; out score FLOAT | [[7], [8]] | [7.0,8.0]
      # Sounds of any length, loudness in scores.
      in samples FLOAT n length; ReduceL2 samples -> loud axes=[1]; Neg loud -> quiet; Concat quiet loud -> both axis=1; Softmax both -> scores; out scores FLOAT n 2 | {"instances": [[0, 0, 0], [300, 400]]} | {"predictions":[[0.5,0.5],[0.0,1.0]]}
      """)
    void aRecordAndItsAnswerMayHaveAnyShape(String model, String request, String answer) throws Exception {
        OnnxModel.of(model).write(artifact.resolve("model.onnx"));
        server = TestServer.artifact(artifact).start();
        assertThat(server.answer(request)).isEqualTo(answer);
    }

    @Test
    void modelJsonNamesTheFileAndTheEngine() throws Exception {
        OnnxModel.linear().write(artifact.resolve("linear"));
        Files.writeString(artifact.resolve("model.json"), """
        {"format": 1, "engine": "onnx", "files": [{"path": "linear"}], "outputs": ["twice", "y"]}""");
        server = TestServer.artifact(artifact).start();
        assertThat(server.answer("[[1, 2]]")).isEqualTo("[{\"twice\":[2.0,4.0],\"y\":[8.0]}]");
    }

    @Test
    void modelJsonThatNamesTheWrongEngineIsToldWhatToDo() throws Exception {
        OnnxModel.linear().write(artifact.resolve("model.onnx"));
        Files.writeString(artifact.resolve("model.json"), """
        {"format": 1, "engine": "pytorch", "files": [{"path": "model.onnx"}]}""");
        TestServer.artifact(artifact).assertDoesNotStart("; model.json: engine: found \"pytorch\", leave it out");
    }

    @Test
    void aTokenizerThatOnlyPythonReadsIsNamed() throws Exception {
        OnnxModel.linear().write(artifact.resolve("model.onnx"));
        Files.writeString(artifact.resolve("vocab.txt"), "[PAD]");
        try (var log = new CapturedLog()) {
            server = TestServer.artifact(artifact).start();
            assertThat(server.answer("[[1, 2]]")).startsWith("[");
            assertThat(log.text())
                    .contains("found vocab.txt and no tokenizer.json, so the model takes tensors; save its");
        }
    }

    @Test
    void aModelThatCantBeLoadedStopsTheStartWithOneSentence() throws Exception {
        Files.writeString(artifact.resolve("model.onnx"), "a text");
        TestServer.artifact(artifact)
                .assertDoesNotStart(
                        "model.onnx can't be loaded as ONNX: found no ONNX model, or only the beginning of one; copy or export it again");
    }

    /// Its logits are the ids of the tokens, so the order of its inputs and outputs can be told.
    @Test
    void aTaskGivesAndTakesTensorsByTheirNames() throws Exception {
        var parts = List.of(
                "in input_ids INT64 rows tokens; in attention_mask INT64 rows tokens; in token_type_ids INT64 rows tokens",
                "Cast input_ids -> start_logits to=FLOAT; Cast attention_mask -> mask to=FLOAT",
                "Add start_logits mask -> end_logits",
                "out mask FLOAT rows tokens; out end_logits FLOAT rows tokens; out start_logits FLOAT rows tokens");
        var inOtherOrder = List.of(
                "in token_type_ids INT64 rows tokens; in attention_mask INT64 rows tokens; in input_ids INT64 rows tokens",
                parts.get(1),
                parts.get(2),
                "out start_logits FLOAT rows tokens; out end_logits FLOAT rows tokens");
        var answers = new ArrayList<String>();
        for (var model : List.of(parts, inOtherOrder)) {
            OnnxModel.of(String.join(";", model)).write(artifact.resolve("model.onnx"));
            Files.copy(
                    TestServer.SAMPLE_ARTIFACT.resolve("tokenizer.json"),
                    artifact.resolve("tokenizer.json"),
                    StandardCopyOption.REPLACE_EXISTING);
            Files.writeString(
                    artifact.resolve("model.json"),
                    Files.readString(TestServer.SAMPLE_ARTIFACT.resolve("model.json"))
                            .replace("model.pt", "model.onnx"));
            try (var asked = TestServer.artifact(artifact).start()) {
                answers.add(asked.answer("{\"question\": \"Who?\", \"context\": \"Marie Curie was born in Warsaw.\"}"));
            }
        }
        assertThat(answers.getFirst()).contains("\"answer\":");
        assertThat(answers).containsOnly(answers.getFirst());
    }
}
