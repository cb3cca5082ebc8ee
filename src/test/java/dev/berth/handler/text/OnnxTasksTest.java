package dev.berth.handler.text;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.OnnxModel;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Tasks whose models are ONNX files.
class OnnxTasksTest {

    @TempDir
    private Path artifact;

    @Test
    void aTorchScriptBesideItComesFirst() throws Exception {
        Files.writeString(artifact.resolve("model.onnx"), "not read");
        Files.copy(TestArtifact.TORCHSCRIPT.resolve("doubled.pt"), artifact.resolve("model.pt"));
        try (var server = TestServer.artifact(artifact).start()) {
            assertThat(server.answer("[[1, 2]]")).isEqualTo("[[2.0,4.0]]");
        }
    }

    /// Its scores are the last position and the number of types, in fp16 and behind another output,
    /// and it takes rows of one shape only.
    @Test
    void aTaskTakesOutputsOfAnyNameAndTypeAndRowsOfAFixedShape() throws Exception {
        model("""
        in position_ids INT64 2 16; in token_type_ids INT64 2 16; in input_ids INT64 2 16;
        ReduceMax position_ids -> last axes=[1]; ReduceMax token_type_ids -> type axes=[1];
        Concat last type -> both axis=1; Cast both -> scores to=FLOAT16; Cast input_ids -> hidden to=FLOAT16;
        out hidden FLOAT16 2 16; out scores FLOAT16 2 2
        """);
        var json = """
        "task": "text-classification", "inputs": ["position_ids", "token_type_ids", "input_ids"],
        "outputs": ["%s"], "labels": ["last", "type"], "parameters": {"function_to_apply": "none", "top_k": 2},
        "shapes": "compiled", "files": [{"path": "model.onnx", "batch": 2, "sequence": 16}]""";
        describe(json.formatted("scores"));
        try (var server = TestServer.artifact(artifact).start()) {
            assertThat(server.answer("[\"one two three\", {\"text\": \"one\", \"text_pair\": \"two\"}]"))
                    .isEqualTo("[[{\"label\":\"last\",\"score\":4.0},{\"label\":\"type\",\"score\":0.0}],"
                            + "[{\"label\":\"last\",\"score\":4.0},{\"label\":\"type\",\"score\":1.0}]]");
        }
        describe(json.formatted("other"));
        TestServer.artifact(artifact).assertDoesNotStart("model.json: outputs: found [other], expected [logits]");
    }

    /// The logits of a row are compared with those of the batch.
    @Test
    void aTaskWhoseRowsDependOnEachOtherDoesNotStart() throws Exception {
        model("""
        in input_ids INT64 rows tokens; Cast input_ids -> ids to=FLOAT; ReduceMax ids -> most axes=[1];
        ReduceMean ids -> mean axes=[1]; Concat most mean -> both axis=1; ReduceMean both -> all axes=[0];
        Sub both all -> logits; out logits FLOAT rows 2
        """);
        var json = """
        "task": "text-classification", "inputs": ["input_ids"], "outputs": ["logits"],
        "labels": ["most", "mean"], "shapes": "dynamic", "files": [{"path": "model.onnx"}]""";
        describe(json);
        TestServer.artifact(artifact)
                .assertDoesNotStart(
                        "model.onnx: its rows depend on each other: logits of a row alone is not what it is beside other rows, it differs by up to ",
                        "; a task needs a model that looks at each row by itself, or \"independentRows\": true in model.json where this is wrong");
        describe(json + ", \"independentRows\": false");
        TestServer.artifact(artifact)
                .assertDoesNotStart(
                        "model.json: independentRows: found false, expected true or nothing: rows of a task go through its model together");
        describe(json + ", \"independentRows\": true");
        try (var server = TestServer.artifact(artifact).start()) {
            assertThat(server.answer("\"one\"")).contains("\"label\":");
        }
    }

    @Test
    void picturesAndQuestionsThatDependOnEachOtherDoNotStartEither() throws Exception {
        model("""
        in pixel_values FLOAT n 3 8 8; ReduceMean pixel_values -> colours axes=[2,3] keepdims=0;
        ReduceMax colours -> all axes=[0]; Sub colours all -> logits; out logits FLOAT n 3
        """);
        describe("""
        "task": "image-classification", "inputs": ["pixel_values"], "outputs": ["logits"],
        "labels": ["red", "green", "blue"], "shapes": "dynamic", "files": [{"path": "model.onnx"}],
        "image": {"crop": {"height": 8, "width": 8}, "scale": 0.004, "mean": [0.5, 0.5, 0.5],
                  "deviation": [0.5, 0.5, 0.5], "channels": "rgb"}""");
        TestServer.artifact(artifact)
                .assertDoesNotStart("model.onnx: its rows depend on each other: logits of a row alone");
        model("""
        in input_ids INT64 n tokens; Cast input_ids -> ids to=FLOAT; ReduceMean ids -> all axes=[0];
        Sub ids all -> end_logits; Identity ids -> start_logits;
        out start_logits FLOAT n tokens; out end_logits FLOAT n tokens
        """);
        describe("""
        "task": "question-answering", "inputs": ["input_ids"], "outputs": ["start_logits", "end_logits"],
        "shapes": "dynamic", "files": [{"path": "model.onnx"}]""");
        TestServer.artifact(artifact)
                .assertDoesNotStart(
                        "model.onnx: its rows depend on each other: start_logits and end_logits of a row alone");
    }

    /// The vector of a token is its id.
    @Test
    void theVectorsOfTokensArePooled() throws Exception {
        OnnxModel.of("""
        in input_ids INT64 rows tokens; Unsqueeze input_ids axes -> numbers; Cast numbers -> last_hidden_state to=FLOAT;
        out last_hidden_state FLOAT rows tokens 1
        """)
                .initializer(OnnxModel.tensor("axes", OnnxModel.INT64, 1).bytes(9, new byte[] {2, 0, 0, 0, 0, 0, 0, 0}))
                .write(artifact.resolve("model.onnx"));
        var json = """
        "task": "sentence-embeddings", "inputs": ["input_ids"], "outputs": ["last_hidden_state"],
        "pooling": %s, "shapes": "dynamic", "files": [{"path": "model.onnx"}]""";
        describe(json.formatted(
                "[\"cls\", \"max\", \"mean\", \"mean_sqrt_len_tokens\", \"weightedmean\", \"lasttoken\"]"));
        try (var server = TestServer.artifact(artifact).start()) {
            assertThat(server.answer("\"one\""))
                    .as("[CLS] one [SEP] are 101, 2028 and 102")
                    .isEqualTo("[101.0,2028.0,743.6667,1288.0685,743.8333,102.0]");
        }
        describe(json.formatted("[\"cls\", \"max\", \"normalize\"]"));
        try (var server = TestServer.artifact(artifact).start()) {
            assertThat(server.answer("\"one\"")).isEqualTo("[0.04974111,0.99876213]");
        }
        describe(json.formatted("[\"normalize\", \"mean\"]"));
        TestServer.artifact(artifact)
                .assertDoesNotStart("model.json: pooling: found [normalize, mean], expected some of cls");
    }

    private void model(String words) throws IOException {
        OnnxModel.of(words).write(artifact.resolve("model.onnx"));
    }

    /// A model.json without what PyTorch would write, beside the tokenizer of the sample.
    private void describe(String ofTheTask) throws IOException {
        Files.copy(
                TestServer.SAMPLE_ARTIFACT.resolve("tokenizer.json"),
                artifact.resolve("tokenizer.json"),
                StandardCopyOption.REPLACE_EXISTING);
        Files.writeString(artifact.resolve("model.json"), """
        {"format": 1, "target": "cpu", "precision": "fp16", "maxSequenceLength": 16, %s,
         "pair": {"before": [101], "between": [102], "after": [102],
                  "padding": 0, "questionType": 0, "contextType": 1}}""".formatted(ofTheTask));
    }
}
