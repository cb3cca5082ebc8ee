package dev.berth.openinference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.Infer;
import dev.berth.testing.OnnxModel;
import dev.berth.testing.TestServer;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Tensors of the protocol through ONNX files.
class ServedTensorsTest {

    /// Of the operators on texts.
    private static final int STRING_OPSET = 20;

    @TempDir
    private Path artifact;

    /// Each row is a model, the inputs of a request, and parts of its outputs.
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
      # Texts keep the shape of their tensor.
      in x STRING 2; StringSplit x -> parts counts; out parts STRING 2 2; out counts INT64 2 | x BYTES [1,2] "a b","c d" | [{"name":"parts","datatype":"BYTES","shape":[1,2,2],"data":["a","b","c","d"]},{"name":"counts","datatype":"INT64","shape":[1,2],"data":[2,2]}]
      in x STRING 2; StringSplit x -> parts counts; out parts STRING 2 2; out counts INT64 2 | x BYTES [2,2] "a b","c d","e f","g h" | "shape":[2,2,2]; "data":[2,2,2,2]
      in x STRING 3; in y STRING 1; StringConcat x y -> z; out z STRING 3 | x BYTES [1,3] "cat","dog","cow"; y BYTES [1,1] "s" | [{"name":"z","datatype":"BYTES","shape":[1,3],"data":["cats","dogs","cows"]}]
      # A record is one text, or a number and a text.
      in x STRING n; in n FLOAT n; Identity x -> y; Identity n -> m; out y STRING n; out m FLOAT n | x BYTES [2] "a",""; n FP32 [2] 1,2 | "shape":[2],"data":["a",""]; "shape":[2],"data":[1.0,2.0]
      in x STRING n; Identity x -> y; out y STRING n | x BYTES [1] "a" | "shape":[1],"data":["a"]
      in x STRING n; Identity x -> y; out y STRING n | x BYTES [3] "a","b","c" | "shape":[3],"data":["a","b","c"]
      # Numbers that are not finite.
      in n FLOAT rows; IsNaN n -> a; IsInf n -> b detect_negative=0; out a BOOL rows; out b BOOL rows | n FP32 [4] NaN,Infinity,-Infinity,1 | "data":[true,false,false,false]; "data":[false,true,false,false]
      in n FLOAT rows; in t STRING rows; IsNaN n -> a; IsInf n -> b detect_negative=0; Identity t -> same; out a BOOL rows; out b BOOL rows; out same STRING rows | n FP32 [4] NaN,Infinity,-Infinity,1; t BYTES [4] "","","","" | "data":[true,false,false,false]; "data":[false,true,false,false]
      """)
    void tensorsComeAndGoAsTheyAre(String model, String inputs, String outputs) throws Exception {
        OnnxModel.of(model).opset("", STRING_OPSET).write(artifact.resolve("model.onnx"));
        try (var server = TestServer.artifact(artifact).start()) {
            assertThat(infer(server, inputs.split("; "))).contains(outputs.split("; "));
            Infer.assertError(
                    Infer.send(server, "model", Infer.bodyWith("\"parameters\": {\"k\": 1}, ", inputs.split("; "))),
                    400,
                    "parameters: found the unknown parameter \"k\"");
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
        for (var first : List.of("n", "1")) {
            OnnxModel.of("in x FLOAT %1$s length 2; Identity x -> y; out y FLOAT %1$s length 2".formatted(first))
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
