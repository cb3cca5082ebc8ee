package dev.berth.handler.text;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.OnnxModel;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
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
        var model = new OnnxModel();
        for (var input : List.of("position_ids", "token_type_ids", "input_ids")) {
            model.input(input, OnnxModel.INT64, 2, 16);
        }
        var half = OnnxModel.attribute("to", OnnxModel.FLOAT16);
        var rows = OnnxModel.attribute("axes", List.of(1L));
        model.node("ReduceMax", List.of("position_ids"), List.of("last"), rows)
                .node("ReduceMax", List.of("token_type_ids"), List.of("type"), rows)
                .node("Concat", List.of("last", "type"), List.of("both"), OnnxModel.attribute("axis", 1))
                .node("Cast", List.of("both"), List.of("scores"), half)
                .node("Cast", List.of("input_ids"), List.of("hidden"), half)
                .output("hidden", OnnxModel.FLOAT16, 2, 16)
                .output("scores", OnnxModel.FLOAT16, 2, 2)
                .write(artifact.resolve("model.onnx"));
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
        new OnnxModel()
                .input("input_ids", OnnxModel.INT64, "rows", "tokens")
                .node("Cast", List.of("input_ids"), List.of("ids"), OnnxModel.attribute("to", OnnxModel.FLOAT))
                .node("ReduceMax", List.of("ids"), List.of("most"), OnnxModel.attribute("axes", List.of(1L)))
                .node("ReduceMean", List.of("ids"), List.of("mean"), OnnxModel.attribute("axes", List.of(1L)))
                .node("Concat", List.of("most", "mean"), List.of("both"), OnnxModel.attribute("axis", 1))
                .node("ReduceMean", List.of("both"), List.of("all"), OnnxModel.attribute("axes", List.of(0L)))
                .node("Sub", List.of("both", "all"), List.of("logits"))
                .output("logits", OnnxModel.FLOAT, "rows", 2)
                .write(artifact.resolve("model.onnx"));
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
        new OnnxModel()
                .input("pixel_values", OnnxModel.FLOAT, "n", 3, 8, 8)
                .node(
                        "ReduceMean",
                        List.of("pixel_values"),
                        List.of("colours"),
                        OnnxModel.attribute("axes", List.of(2L, 3L)),
                        OnnxModel.attribute("keepdims", 0))
                .node("ReduceMax", List.of("colours"), List.of("all"), OnnxModel.attribute("axes", List.of(0L)))
                .node("Sub", List.of("colours", "all"), List.of("logits"))
                .output("logits", OnnxModel.FLOAT, "n", 3)
                .write(artifact.resolve("model.onnx"));
        describe("""
        "task": "image-classification", "inputs": ["pixel_values"], "outputs": ["logits"],
        "labels": ["red", "green", "blue"], "shapes": "dynamic", "files": [{"path": "model.onnx"}],
        "image": {"crop": {"height": 8, "width": 8}, "scale": 0.004, "mean": [0.5, 0.5, 0.5],
                  "deviation": [0.5, 0.5, 0.5], "channels": "rgb"}""");
        TestServer.artifact(artifact)
                .assertDoesNotStart("model.onnx: its rows depend on each other: logits of a row alone");
        new OnnxModel()
                .input("input_ids", OnnxModel.INT64, "n", "tokens")
                .node("Cast", List.of("input_ids"), List.of("ids"), OnnxModel.attribute("to", OnnxModel.FLOAT))
                .node("ReduceMean", List.of("ids"), List.of("all"), OnnxModel.attribute("axes", List.of(0L)))
                .node("Sub", List.of("ids", "all"), List.of("end_logits"))
                .node("Identity", List.of("ids"), List.of("start_logits"))
                .output("start_logits", OnnxModel.FLOAT, "n", "tokens")
                .output("end_logits", OnnxModel.FLOAT, "n", "tokens")
                .write(artifact.resolve("model.onnx"));
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
        new OnnxModel()
                .input("input_ids", OnnxModel.INT64, "rows", "tokens")
                .initializer(OnnxModel.tensor("axes", OnnxModel.INT64, 1).bytes(9, new byte[] {2, 0, 0, 0, 0, 0, 0, 0}))
                .node("Unsqueeze", List.of("input_ids", "axes"), List.of("numbers"))
                .node(
                        "Cast",
                        List.of("numbers"),
                        List.of("last_hidden_state"),
                        OnnxModel.attribute("to", OnnxModel.FLOAT))
                .output("last_hidden_state", OnnxModel.FLOAT, "rows", "tokens", 1)
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
