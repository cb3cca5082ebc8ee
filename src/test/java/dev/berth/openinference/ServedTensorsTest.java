package dev.berth.openinference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.Infer;
import dev.berth.testing.OnnxModel;
import dev.berth.testing.TestServer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Tensors of the protocol through ONNX files.
class ServedTensorsTest {

    /// Of the operators on texts.
    private static final int STRING_OPSET = 20;

    @TempDir
    private Path artifact;

    @Test
    void textsOfTheOpenInferenceProtocolKeepTheShapeOfTheirTensor() throws Exception {
        OnnxModel.of("""
                in x STRING 2; StringSplit x -> parts counts; out parts STRING 2 2; out counts INT64 2""").opset("", STRING_OPSET).write(artifact.resolve("model.onnx"));
        try (var server = TestServer.artifact(artifact).start()) {
            assertThat(infer(server, "x BYTES [1,2] \"a b\",\"c d\""))
                    .isEqualTo(
                            "[{\"name\":\"parts\",\"datatype\":\"BYTES\",\"shape\":[1,2,2],\"data\":[\"a\",\"b\",\"c\",\"d\"]},"
                                    + "{\"name\":\"counts\",\"datatype\":\"INT64\",\"shape\":[1,2],\"data\":[2,2]}]");
            assertThat(infer(server, "x BYTES [2,2] \"a b\",\"c d\",\"e f\",\"g h\""))
                    .contains("\"shape\":[2,2,2]", "\"data\":[2,2,2,2]");
        }
        OnnxModel.of("in x STRING 3; in y STRING 1; StringConcat x y -> z; out z STRING 3")
                .opset("", STRING_OPSET)
                .write(artifact.resolve("model.onnx"));
        try (var server = TestServer.artifact(artifact).start()) {
            assertThat(infer(server, "x BYTES [1,3] \"cat\",\"dog\",\"cow\"", "y BYTES [1,1] \"s\""))
                    .isEqualTo(
                            "[{\"name\":\"z\",\"datatype\":\"BYTES\",\"shape\":[1,3],\"data\":[\"cats\",\"dogs\",\"cows\"]}]");
        }
        // A record is one text, or a number and a text.
        OnnxModel.of("""
                in x STRING n; in n FLOAT n; Identity x -> y; Identity n -> m; out y STRING n;
                out m FLOAT n""").opset("", STRING_OPSET).write(artifact.resolve("model.onnx"));
        try (var server = TestServer.artifact(artifact).start()) {
            assertThat(infer(server, "x BYTES [2] \"a\",\"\"", "n FP32 [2] 1,2"))
                    .contains("\"shape\":[2],\"data\":[\"a\",\"\"]", "\"shape\":[2],\"data\":[1.0,2.0]");
        }
        OnnxModel.of("in x STRING n; Identity x -> y; out y STRING n")
                .opset("", STRING_OPSET)
                .write(artifact.resolve("model.onnx"));
        try (var server = TestServer.artifact(artifact).start()) {
            for (var data : List.of("\"a\"", "\"a\",\"b\"", "\"a\",\"b\",\"c\"")) {
                var shape = "[%d]".formatted(data.split(",").length);
                assertThat(infer(server, "x BYTES %s %s".formatted(shape, data)))
                        .contains("\"shape\":%s,\"data\":[%s]".formatted(shape, data));
            }
            Infer.assertError(
                    Infer.send(server, "model", Infer.bodyWith("\"parameters\": {\"k\": 1}, ", "x BYTES [1] \"a\"")),
                    400,
                    "parameters: found the unknown parameter \"k\"");
        }
    }

    @Test
    void theOpenInferenceProtocolHasNumbersThatAreNotFinite() throws Exception {
        for (var isMixed : List.of(false, true)) {
            var model = OnnxModel.of("""
                in n FLOAT rows; IsNaN n -> nan; IsInf n -> infinite detect_negative=0;
                out nan BOOL rows; out infinite BOOL rows""");
            if (isMixed) {
                model.input("t", OnnxModel.STRING, "rows")
                        .node("Identity", List.of("t"), List.of("same"))
                        .output("same", OnnxModel.STRING, "rows");
            }
            model.write(artifact.resolve("model.onnx"));
            try (var server = TestServer.artifact(artifact).start()) {
                var numbers = "n FP32 [4] NaN,Infinity,-Infinity,1";
                assertThat(isMixed ? infer(server, numbers, "t BYTES [4] \"\",\"\",\"\",\"\"") : infer(server, numbers))
                        .contains("\"data\":[true,false,false,false]", "\"data\":[false,true,false,false]");
            }
        }
    }

    @Test
    void theShapesOfTheFileAreToldBeforeTheFirstRequest() throws Exception {
        OnnxModel.of("""
                in x FLOAT 3 4 5; in rate INT64; Identity x -> y; Identity rate -> r;
                out y FLOAT 3 4 5; out r INT64""").write(artifact.resolve("model.onnx"));
        try (var server = TestServer.artifact(artifact).start()) {
            assertThat(server.get("/v2/models/model").body())
                    .contains(
                            "{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[-1,3,4,5]}",
                            "{\"name\":\"rate\",\"datatype\":\"INT64\",\"shape\":[-1]}");
        }
        for (var first : List.of("n", 1)) {
            new OnnxModel()
                    .input("x", OnnxModel.FLOAT, first, "length", 2)
                    .node("Identity", List.of("x"), List.of("y"))
                    .output("y", OnnxModel.FLOAT, first, "length", 2)
                    .write(artifact.resolve("model.onnx"));
            try (var server = TestServer.artifact(artifact).start()) {
                var input = "\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[-1,-1,2]}]";
                assertThat(server.get("/v2/models/model").body()).contains(input);
                assertThat(infer(server, "x FP32 [1,3,2] 1,2,3,4,5,6")).contains("\"shape\":[1,3,2]");
                assertThat(server.get("/v2/models/model").body())
                        .as("the file, and not what came once")
                        .contains(input);
            }
        }
    }

    @Test
    void aTableOfTextsAndNumbersIsATensorForEachColumn() throws Exception {
        try (var server = TestServer.artifact(Path.of("examples/scikit-learn")).start()) {
            assertThat(infer(
                            server,
                            "age FP32 [2,1] 34,1",
                            "income FP32 [2,1] 51000,1",
                            "city BYTES [2,1] \"Paris\",\"\"",
                            "visits INT64 [2,1] 3,0"))
                    .contains(
                            "{\"name\":\"label\",\"datatype\":\"BYTES\",\"shape\":[2],\"data\":[\"stays\",\"leaves\"]}");
        }
    }

    @Test
    void allRowsOfARequestMayHaveOneAnswer() throws Exception {
        OnnxModel.mostOfAllRows().write(artifact.resolve("model.onnx"));
        try (var server = TestServer.artifact(artifact).start()) {
            assertThat(infer(server, "points FP32 [2,2] 1,9,5,2"))
                    .contains("\"name\":\"most\",\"datatype\":\"FP32\",\"shape\":[1,2],\"data\":[5.0,9.0]");
        }
    }

    private static String infer(TestServer server, String... inputs) throws Exception {
        return Infer.outputs(server, Infer.body(inputs)).toString();
    }
}
