package dev.berth.handler.tensor;

import static dev.berth.testing.TestArtifact.TWO_INPUTS;
import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.Tensor;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// TorchScript files that are served without a line of code, over HTTP. `trace/fixtures.py` makes
/// the files.
class TensorHandlerTest {

    @TempDir
    private static Path directory;

    @AutoClose
    private static TestServer doubled;

    @AutoClose
    private static TestServer twoInputs;

    @BeforeAll
    static void start() throws Exception {
        doubled = started("doubled", "doubled.pt", null);
        twoInputs = started("two-inputs", "sum-and-product.pt", TWO_INPUTS);
    }

    @ParameterizedTest
    @Tag("TFS-01")
    @Tag("TFS-02")
    @Tag("TFS-03")
    @CsvSource(delimiter = '|', textBlock = """
      {"instances": [[1, 2]]}       | {"predictions":[[2.0,4.0]]}
      {"instances": [1, 2, 3]}      | {"predictions":[2.0,4.0,6.0]}
      {"instances": []}             | {"predictions":[]}
      {"instances": [{"x": [1]}]} | {"predictions":[[2.0]]}
      {"inputs": [[1, 2], [3, 4]]}  | {"outputs":[[2.0,4.0],[6.0,8.0]]}
      {"inputs": {"x": [[1, 2]]}}  | {"outputs":[[2.0,4.0]]}
      {"dataframe_split": {"index": [0, 1], "columns": ["a", "b"], "data": [[1, 2], [3, 4]]}} | {"predictions":[[2.0,4.0],[6.0,8.0]]}
      {"dataframe_split": {"columns": [0, 1], "data": [[1, 2]]}} | {"predictions":[[2.0,4.0]]}
      {"dataframe_records": [{"a": 1, "b": 2}, {"b": 4, "a": 3}]} | {"predictions":[[2.0,4.0],[6.0,8.0]]}
      {"dataframe_records": [{"a": 1}]} | {"predictions":[[2.0]]}
      {"dataframe_records": []}     | {"predictions":[]}
      [[1, 2], [3, 4]]                | [[2.0,4.0],[6.0,8.0]]
      [[1, 2], [3]]                   | [[2.0,4.0],[6.0]]
      [[[1], [0.1]]]                  | [[[2.0],[0.2]]]
      {"x": 1}                      | 2.0
      [1, 2, 3]                       | [2.0,4.0,6.0]
      []                              | []
      7                               | 14.0
      [true, false]                   | [2.0,0.0]
      [1e39]                          | [null]
      [NaN, -Infinity]                | [null,null]
      {"instances": [{"b64": "AQID"}, {"image_bytes": {"b64": "/w=="}}]} | {"predictions":[[2,4,6],[254]]}
      """)
    void jsonIsAnsweredInItsOwnForm(String body, String answer) throws Exception {
        assertJson(doubled, body, answer);
    }

    /// As Python's `float()` reads them, and as its `json` and `csv` write them.
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      text/csv              | nan,NaN,NAN,+nan,-nan     | NaN,NaN,NaN,NaN,NaN
      text/csv              | inf,Inf,+INF,-inf         | Infinity,Infinity,Infinity,-Infinity
      text/csv              | Infinity,-infinity,+INFINITY | Infinity,-Infinity,Infinity
      text/csv              | 1e999,-1e999,1e-999       | Infinity,-Infinity,0.0
      text/csv              | ' nan ,\t1.5\t," inf "' | NaN,3.0,Infinity
      text/csv              | 1_000,1_0.2_5,1e1_0,.5,5.,+1 | 2000.0,20.5,2.0E10,1.0,10.0,2.0
      text/csv              | nan~1                     | NaN~2.0
      text/csv              | a,b~inf,nan               | Infinity,NaN
      application/json      | [[NaN, Infinity, -Infinity]] | NaN,Infinity,-Infinity
      application/json      | {"instances": [[NaN, 1]]} | NaN,2.0
      application/json      | {"inputs": {"x": [[NaN, 1]]}} | NaN,2.0
      application/json      | {"dataframe_split": {"columns": ["a"], "data": [[-Infinity]]}} | -Infinity
      application/jsonlines | [NaN, 1]~[Infinity, -Infinity] | NaN,2.0~Infinity,-Infinity
      application/jsonlines | ["NaN", "-Infinity"]  | NaN,-Infinity
      """)
    void numbersThatAreNotFiniteAreReadInEveryFormat(String type, String body, String answer) throws Exception {
        assertAnswer(doubled, type, "text/csv", body.replace('~', '\n'), answer.replace('~', '\n'));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "infinit", "nano", "1_", "_1", "1__0", "1_.5", "1._5", "1e_5", "--1", "0x10", "1d", "1.5f", "0x1p3",
                "1 0", "NA", "null", "+-inf", "e5", "."
            })
    void whatPythonReadsAsNoNumberIsNone(String cell) throws Exception {
        assertStatus(
                doubled.invoke("1\n" + cell, "Content-Type", "text/csv; header=absent"),
                400,
                "row 2, column 1: found \\\"%s\\\", expected a number".formatted(cell));
    }

    /// The last one is as MLflow's clients send it.
    @ParameterizedTest
    @Tag("TFS-04")
    @Tag("TFS-05")
    @Tag("BAT-07")
    @Tag("BAT-09")
    @CsvSource(delimiter = '|', textBlock = """
      application/jsonlines    | application/jsonlines | [1, 2]\\r~[3]~{"x": [4]} | [2.0,4.0]~[6.0]~[8.0]
      application/jsonlines    | application/json | [1]~[2]~    | [[2.0],[4.0]]
      text/csv                 | application/json | 1~2~        | [2.0,4.0]
      text/csv                 | application/json | 1,2~ 3,"4" | [[2.0,4.0],[6.0,8.0]]
      text/csv; header=present | text/csv         | a,b~1,2.5~  | 2.0,5.0
      text/csv                 | text/csv         | a,sepal length (cm)~1,2.5~ | 2.0,5.0
      """)
    void linesAndRowsAreRecords(String type, String accept, String body, String answer) throws Exception {
        var lines = body.replace("\\r", "\r").replace('~', '\n');
        assertAnswer(doubled, type, accept, lines, answer.replace('~', '\n'));
    }

    @Test
    @Tag("HOOK-05")
    void anEmptyBatchHasTheOutputsAndTheShapesOfTheModel() throws Exception {
        try (var server = started("empty-batch", "sum-and-product.pt", TWO_INPUTS)) {
            assertJson(
                    server, "{\"inputs\": {\"left\": [], \"right\": []}}", "{\"outputs\":{\"product\":[],\"sum\":[]}}");
        }
    }

    @Test
    void severalInputsAndOutputsHaveNames() throws Exception {
        var record = "{\"left\": [0.5, 1], \"right\": [2, 3]}";
        var answer = "{\"product\":[1.0,3.0],\"sum\":[2.5,4.0]}";
        assertJson(twoInputs, record, answer);
        assertJson(twoInputs, "{\"instances\": [" + record + "]}", "{\"predictions\":[" + answer + "]}");
        assertJson(
                twoInputs,
                "{\"inputs\": {\"left\": [[1], [2]], \"right\": [[3], [4]]}}",
                "{\"outputs\":{\"product\":[[3.0],[8.0]],\"sum\":[[4.0],[6.0]]}}");
        assertAnswer(twoInputs, "application/json", "text/csv", record, "1.0,3.0,2.5,4.0");
    }

    @Test
    void outputsOfADictHaveTheirOwnNamesInTheOrderOfTheModelJsonElseOfTheForward() throws Exception {
        try (var server = started("no-json", "sum-and-product.pt", null)) {
            assertJson(server, "{\"left\": 2, \"right\": 5}", "{\"product\":10.0,\"sum\":7.0}");
            assertThat(server.invoke("{\"left\": 2}").body()).contains("body: missing [right], expected [left, right]");
        }
        var json = """
        {"format": 1, "files": [{"path": "sum-and-product.pt"}], "inputs": ["left", "right"], "outputs": ["sum", "product"]}""";
        try (var server = started("sum-first", "sum-and-product.pt", json)) {
            assertJson(server, "{\"left\": 2, \"right\": 5}", "{\"sum\":7.0,\"product\":10.0}");
            assertAnswer(server, "application/json", "text/csv", "{\"left\": 2, \"right\": 5}", "7.0,10.0");
        }
    }

    /// @param described what `model.json` says beside its format and the path of the file; nothing:
    ///   there is none
    /// @param problems one behind the other
    @ParameterizedTest
    @Tag("RUN-14")
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
      sum-and-product.pt | 'inputs': ['left', 'right'], 'outputs': ['sum', 'difference'] | model.json: outputs: found [sum, difference], expected some of [product, sum], each once
      sum-and-product.pt | 'inputs': ['right', 'left'] | model.json: inputs: found [right, left], expected [left, right], in the order of the model's forward
      sum-and-product.pt | 'inputs': ['left'], 'outputs': ['sum', 'sum'] | model.json: inputs: found [left], expected [left, right]; model.json: outputs: found [sum, sum], expected some of [product, sum], each once
      forgets.pt | | forgets.pt: its forward takes kept: List[Tensor], expected tensors only; wrap it in a module that takes and returns tensors
      two-columns.pt | 'inputs': [{'name': 'x', 'type': 'string'}] | model.json: inputs[0].type: found "string", expected a type of numbers: only an ONNX file takes texts
      doubled.pt | 'target': 'inf2' | model.json: target: found "inf2", expected cpu or gpu
      doubled.pt | 'inputs': [{'name': 'x', 'type': 'float'}, 7, 'x'], 'outputs': 'y' | inputs[0].type: found "float", expected one of bool, uint8; inputs[1]: found 7; expected each once; outputs: found "y"
      doubled.pt | 'inputs': [] | inputs: found an empty list
      none | 'inputs': ['x'] | model.json: files: found an empty list
      gone.pt | 'inputs': ['x'] | files[0].path: found "gone.pt"
      """)
    void anArtifactThatIsWrongIsRefusedAtStart(String file, String described, String problems, @TempDir Path wrong)
            throws Exception {
        var copied = Files.exists(TestArtifact.TORCHSCRIPT.resolve(file)) ? file : "doubled.pt";
        var files = file.equals("none") ? "" : "{\"path\": \"%s\"}".formatted(file);
        var json = described == null
                ? null
                : "{\"format\": 1, \"files\": [%s], %s}".formatted(files, described.replace('\'', '"'));
        var artifact = TestArtifact.tensors(wrong, "wrong", copied, json);
        TestServer.artifact(artifact).assertDoesNotStart(problems.split("; (?!wrap)"));
    }

    @ParameterizedTest
    @Tag("RUN-14")
    @CsvSource(delimiter = '|', textBlock = """
      ''                 | as the directory is empty; name a model artifact with --model-dir, or mount one, docker run -v
      model.joblib notes | nor a model file such as model.pt or model.onnx, only model.joblib, which no engine here reads; write hooks in code/ that do
      Inference.java     | only hooks, which lie in code/; name the directory above, or move them into code/ here
      my-model/model.pt  | only my-model/, which has one; name or mount that, or pack what is in it: tar -czf model.tar.gz -C my-model .
      my-model/model.pt model.tar.gz | only my-model/, which has one
      a/model.pt b/model.pt c/notes | only [a, b], which have one each; name or mount one of them, or serve all with --models
      my-model/model.pt __MACOSX/my-model/model.pt | only my-model/, which has one
      a.pt b.pth         | found [a.pt, b.pth] and no model.json that says which one is served
      """)
    void aDirectoryWithoutOneModelFileIsRefusedAtStart(String files, String problem, @TempDir Path wrong)
            throws Exception {
        for (var file : files.isEmpty() ? new String[0] : files.split(" ")) {
            Files.createDirectories(wrong.resolve(file).getParent());
            Files.copy(TestArtifact.TORCHSCRIPT.resolve("doubled.pt"), wrong.resolve(file));
        }
        TestServer.artifact(wrong).assertDoesNotStart(problem);
    }

    @ParameterizedTest
    @Tag("ERR-01")
    @CsvSource(delimiter = '|', textBlock = """
      application/json      | [[1, 2], [3, "x"]]        | [1][1]: found the text "x", expected a number
      application/json      | [[1, [2]]]                  | [0][1]: found a list, expected a number
      application/json      | [[[1, 2], [3]]]             | [0][1]: found a list of 1, expected a list of 2 as before it
      application/json      | [[[1], 2]]                  | [0][1]: found 2, expected a list of 1 as before it
      application/json      | null                        | body: found null, expected a JSON value
      application/json      | {"instances": 7}          | instances: found 7, expected a list
      application/json      | {}                          | body: found an object, expected a number, a list of numbers, or {"b64": "…"}
      application/json      | {"a": 1, "b": 2}        | body: found an object, expected a number, a list of numbers, or {"b64": "…"}
      application/json      | {"instances": [{"b64": "?"}]} | instances[0].b64: not base64
      application/json      | [1                          | body: not JSON
      application/json      | {"inputs": 3}             | inputs: found [float32[]], expected as many rows in each
      application/json      | {"inputs": {}}            | inputs: found an object, expected a number, a list of numbers, or {"b64": "…"}
      application/json      | {"dataframe_split": {"columns": ["a"], "data": [["x"]]}} | dataframe_split.data[0][0]: found the text "x", expected a number
      application/json      | {"dataframe_split": [1]}  | dataframe_split.data: found nothing, expected a list
      application/json      | {"dataframe_records": {"a": 1}} | dataframe_records: found an object, expected a list
      application/json      | {"dataframe_records": [[1]]} | dataframe_records[0]: found a list, expected an object with the values of the columns
      application/json      | {"dataframe_records": [{"a": 1}, {"b": 1}]} | dataframe_records[1]: missing [a], unknown [b], expected [a]
      text/csv              | a,b                         | row 1, column 1: found "a", expected a number, or header=present in the Content-Type
      text/csv              | a,a~1,2                     | row 1, column 1: found "a", expected a number
      text/csv              | inf,a~1,2                   | row 1, column 2: found "a", expected a number
      text/csv; header=absent | a,b~1,2                   | row 1, column 1: found "a", expected a number
      application/jsonlines | [1]~~[2]                    | line 2: found a blank line
      text/csv              | 1,2~3,x                     | row 2, column 2: found "x", expected a number
      text/csv              | 1,2~3                       | row 2: found 1 column, expected 2 as in row 1
      text/csv              | ' '                         | body: found nothing, expected rows of numbers
      application/json      | ''                          | body: found nothing, expected a JSON value
      text/csv              | 1d                          | row 1, column 1: found "1d", expected a number
      """)
    void whatIsWrongIsNamed(String type, String body, String message) throws Exception {
        assertStatus(doubled.invoke(body.replace('~', '\n'), "Content-Type", type), 400, message.replace("\"", "\\\""));
    }

    @Test
    void aCellOfManyDigitsIsLookedAtOnce() throws Exception {
        var digits = "1".repeat(1_000_000);
        assertStatus(
                doubled.invoke(digits + "x", "Content-Type", "text/csv"),
                400,
                "row 1, column 1: found \\\"" + "1".repeat(60) + "…\\\", expected a number of at most 1000 characters");
        assertAnswer(doubled, "text/csv", "application/json", "1".repeat(990) + "e-989", "[2.2222223]");
        assertStatus(twoInputs.invoke("{\"left\": 1, \"right\": " + digits + "}"), 400);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      application/json | {"left": 1}                              | body: missing [right], expected [left, right]
      application/json | [1, 2]                                     | body: found a list, expected an object with [left, right]
      application/json | {"dataframe_split": {"data": [[1, 2]]}} | dataframe_split.data[0]: found a list, expected an object with [left, right]
      application/json | {"left": 1, "right": 2.5}              | body.right: found 2.5, expected a whole number that is int64
      application/json | {"left": 1, "right": 1e30}             | body.right: found 1.0E30, expected a whole number that is int64
      application/json | {"inputs": {"left": [1], "right": [1, 2]}} | inputs: found [float32[1], int64[2]], expected as many rows
      text/csv         | 1,2                                        | expected a type that names the model's inputs [left, right]
      """)
    void whatIsWrongWithNamesIsNamed(String type, String body, String message) throws Exception {
        var response = twoInputs.invoke(body, "Content-Type", type);
        assertThat(response.statusCode()).as(response.body()).isIn(400, 415);
        assertThat(response.body()).contains(message);
    }

    @Test
    void wholeNumbersAreNeverChangedInSilence() throws Exception {
        var whole =
                "{\"format\": 1, \"files\": [{\"path\": \"doubled.pt\"}], \"inputs\": [{\"name\": \"x\", \"type\": \"uint8\"}]}";
        try (var server = started("whole", "doubled.pt", whole)) {
            assertAnswer(server, "text/csv", "text/csv", "1,2e0\n3.0,100", "2,4\n6,200");
            assertStatus(server.invoke("1".repeat(1_000_000), "Content-Type", "text/csv"), 400);
            for (var cell : List.of("2.7", "NaN", "-inf", "1e300", "256", "-1")) {
                assertStatus(
                        server.invoke(cell + ",1", "Content-Type", "text/csv"),
                        400,
                        "row 1, column 1: found \\\"%s\\\", expected a whole number that is uint8".formatted(cell));
                assertStatus(server.invoke("[" + cell + "]"), 400);
            }
        }
    }

    @Test
    void wholeNumbersOfAnyFormGoToAModelThatTakesNoOthers() throws Exception {
        var sampled = artifact("whole-sample", "looked-up.pt", null);
        Files.writeString(sampled.resolve("sample.json"), "[[1, 2, 3], [4, 5, 6]]");
        for (var artifact : List.of(artifact("whole-unknown", "looked-up.pt", null), sampled)) {
            try (var server = TestServer.artifact(artifact).start()) {
                assertJson(server, "[[1, 2], [3.0, 4]]", "[[2.0],[2.0]]");
                assertAnswer(server, "text/csv", "application/json", "1,2,3", "[[3.0]]");
                assertStatus(
                        server.invoke("[[1.5]]"),
                        400,
                        artifact.equals(sampled)
                                ? "[0][0]: found 1.5, expected a whole number that is int64"
                                : "the model does not take [float32[1, 1]]");
            }
        }
    }

    @Test
    void aDirectoryOfMlflowAnswersAsMlflowDoes() throws Exception {
        var saved = artifact("mlflow", "two-columns.pt", null);
        Files.writeString(saved.resolve("MLmodel"), "flavors: {}");
        try (var server = TestServer.artifact(saved).start()) {
            for (var body : List.of(
                    "application/json|{\"inputs\": [[1, 2]], \"params\": {}}",
                    "application/json|{\"instances\": [[1, 2]]}",
                    "application/json|{\"dataframe_split\": {\"columns\": [\"a\", \"b\"], \"data\": [[1, 2]]}}",
                    "text/csv|a,b\n1,2\n")) {
                var parts = body.split("\\|");
                assertAnswer(server, parts[0], "application/json", parts[1], "{\"predictions\":[[21.0]]}");
            }
        }
    }

    @Test
    void aTorchScriptMayHaveColumnsToo() throws Exception {
        var json =
                "{\"format\": 1, \"files\": [{\"path\": \"two-columns.pt\"}], \"inputs\": [{\"name\": \"x\", \"columns\": [\"a\", \"b\"]}]}";
        try (var server = started("columns", "two-columns.pt", json)) {
            for (var csv : List.of("1,2", "b,a\n2,1")) {
                assertAnswer(server, "text/csv", "text/csv", csv, "21.0");
            }
            assertJson(server, "{\"b\": 2, \"a\": 1}", "[21.0]");
            for (var frame : List.of(
                    "{\"dataframe_split\": {\"columns\": [\"b\", \"a\"], \"data\": [[2, 1]]}}",
                    "{\"dataframe_split\": {\"columns\": [0, 1], \"data\": [[1, 2]]}}",
                    "{\"dataframe_records\": [{\"b\": 2, \"a\": 1}]}")) {
                assertJson(server, frame, "{\"predictions\":[[21.0]]}");
            }
            assertAnswer(server, "text/libsvm", "application/json", "1 1:2 0:1", "[[21.0]]");
        }
    }

    @Test
    void tensorsOfAHookBecomeThoseThatTheModelTakesWhereItRefusesTheirs() throws Exception {
        var handler = new TensorHandler(artifact("pixels", "two-columns.pt", null)) {
            @Override
            public List<List<Tensor>> inputFn(InvocationRequest request) throws IOException {
                return List.of(List.of(Tensor.ofUnsigned(request.bytes(), 2)));
            }
        };
        try (var server = TestServer.with(handler).start()) {
            assertThat(server.answer("\t\n")).isEqualTo("[[109.0]]");
        }
    }

    @Test
    void aBadLineMayBeKeptInItsPlace() throws Exception {
        try (var server = TestServer.artifact(directory.resolve("doubled")).start("BERTH_BAD_RECORDS=keep")) {
            assertAnswer(
                    server,
                    "application/jsonlines",
                    "application/jsonlines",
                    "x\n[1]\n\n[2]",
                    "{\"error\":\"line 1: not JSON at column 1: found unrecognized token 'x', expected (JSON String, Number (or 'NaN'/'+INF'/'-INF'), Array, Object or token 'null', 'true' or 'false')\"}\n[2.0]\n{\"error\":\"line 3: found a blank line, expected a JSON value\"}\n[4.0]");
            assertThat(server.invoke("x\n[1]", "Content-Type", "application/jsonlines", "Accept", "text/csv")
                            .body())
                    .startsWith("\"ERROR: line 1")
                    .endsWith("\n2.0");
            assertThat(server.invoke("1,2\n3\n4,5", "Content-Type", "text/csv", "Accept", "text/csv")
                            .body())
                    .isEqualTo("2.0,4.0\n\"ERROR: row 2: found 1 column, expected 2 as in row 1\"\n8.0,10.0");
            assertStatus(
                    server.invoke("x\n[1]", "Content-Type", "application/jsonlines", "Accept", "application/x-npy"),
                    406);
        }
    }

    @Test
    @Tag("ERR-01")
    void aShapeThatTheModelDoesNotTakeIsTheCallersFailureAlone() throws Exception {
        try (var server = started("two-columns", "two-columns.pt", null)) {
            assertJson(server, "[[1, 2], [3, 4]]", "[[21.0],[43.0]]");
            var response = server.invoke("[[1, 2, 3]]");
            assertStatus(response, 400, "the model does not take [float32[1, 3]]");
            assertThat(response.body()).doesNotContain("Traceback");
            assertJson(server, "[[1, 0]]", "[[1.0]]");
        }
    }

    @Test
    @Tag("RUN-14")
    void filesThatAMacAddsAreNoModels() throws Exception {
        var artifact = artifact("mac", "doubled.pt", null);
        Files.writeString(artifact.resolve("._doubled.pt"), "no model");
        Files.writeString(artifact.resolve(".DS_Store"), "");
        try (var server = TestServer.artifact(artifact).start()) {
            assertThat(server.invoke("[7]").body()).isEqualTo("[14.0]");
        }
    }

    @Test
    void onlyWhatTheCallersTensorsCauseIsTheCallersFailure() throws Exception {
        var inputs =
                "{\"format\": 1, \"files\": [{\"path\": \"fails.pt\"}], \"inputs\": [\"values\", {\"name\": \"kind\", \"type\": \"int64\"}]}";
        try (var server = started("fails", "fails.pt", inputs)) {
            assertStatus(
                    server.invoke("{\"values\": 1, \"kind\": 9}"),
                    400,
                    "the model does not take [float32[1], int64[1]]: the model failed: RuntimeError: index out of range");
            assertStatus(
                    server.invoke("{\"values\": 1, \"kind\": 1}"),
                    500,
                    "predictFn failed: the model failed: RuntimeError: Could not run 'aten::q_scale'");
        }
    }

    @Test
    void aModelWithoutAnAnswerForEachRowAnswersTheRequest() throws Exception {
        try (var server = started("summed-up", "summed-up.pt", null)) {
            assertJson(server, "[[1, 2], [3, 4]]", "10.0");
            assertJson(server, "{\"instances\": [[1, 2], [3, 4]]}", "{\"predictions\":10.0}");
            assertAnswer(server, "text/csv", "text/csv", "1,2\n3,4", "10.0");
        }
    }

    /// Blocks of more than eight rows are cut, and the rest of one goes through the model beside others.
    @Test
    void blocksOfManyCallersComeBackToThem() throws Exception {
        var independent = "{\"format\": 1, \"files\": [{\"path\": \"doubled.pt\"}], \"independentRows\": true}";
        try (var server = TestServer.artifact(artifact("cut", "doubled.pt", independent))
                .set("BERTH_MAX_BATCH_SIZE", "8")
                .start("BERTH_MAX_BATCH_DELAY_MS=20")) {
            var answers = IntStream.range(1, 30)
                    .mapToObj(rows -> server.invokeAsync("{\"inputs\": %s}".formatted(rows(rows, 1))))
                    .toList();
            for (int rows = 1; rows < 30; rows++) {
                assertThat(answers.get(rows - 1).join().body()).isEqualTo("{\"outputs\":%s}".formatted(rows(rows, 2)));
            }
        }
    }

    /// It may look at what a record is.
    @Test
    void aClassWithASplitOfItsOwnGetsRows() throws Exception {
        var independent = "{\"format\": 1, \"files\": [{\"path\": \"doubled.pt\"}], \"independentRows\": true}";
        var ranks = new ConcurrentSkipListSet<Integer>();
        var handler = new TensorHandler(artifact("own-split", "doubled.pt", independent)) {
            @Override
            public List<List<Tensor>> split(List<Tensor> record) {
                ranks.add(record.getFirst().rank());
                return super.split(record);
            }
        };
        try (var server = TestServer.with(handler).start()) {
            assertJson(server, "{\"inputs\": [[1, 2], [3, 4]]}", "{\"outputs\":[[2.0,4.0],[6.0,8.0]]}");
            assertThat(ranks).containsExactly(1);
        }
    }

    /// As of a model that pads to the longest row of a batch.
    @Test
    void blocksWhoseRowsHaveDifferentShapesAreRowsAgain() {
        var wide = Tensor.of(new float[] {1, 2, 3, 4}, 2, 2);
        var narrow = Tensor.of(new float[] {5}, 1, 1);
        var unlike = Rows.joined(List.of(new Rows(List.of(wide), true), new Rows(List.of(narrow), true)));
        assertThat(((Rows.Unlike) unlike).rows())
                .containsExactly(
                        List.of(Tensor.of(new float[] {1, 2}, 2)),
                        List.of(Tensor.of(new float[] {3, 4}, 2)),
                        List.of(Tensor.of(new float[] {5}, 1)));
        assertThat(Rows.joined(List.of(new Rows(List.of(wide), true), new Rows(List.of(wide), true))))
                .containsExactly(Tensor.of(new float[] {1, 2, 3, 4, 1, 2, 3, 4}, 4, 2));
    }

    private static String rows(int count, int factor) {
        return IntStream.range(0, count)
                .mapToObj(row -> "[%s]".formatted(factor * (100f * count + row)))
                .collect(Collectors.joining(",", "[", "]"));
    }

    private static Path artifact(String name, String file, String modelJson) throws Exception {
        return TestArtifact.tensors(directory, name, file, modelJson);
    }

    private static TestServer started(String name, String file, String modelJson) throws Exception {
        return TestServer.artifact(artifact(name, file, modelJson)).start();
    }

    private static void assertJson(TestServer server, String body, String answer) throws Exception {
        assertAnswer(server, "application/json", "application/json", body, answer);
    }

    private static void assertAnswer(TestServer server, String type, String accept, String body, String answer)
            throws Exception {
        var response = server.invoke(body, "Content-Type", type, "Accept", accept);
        assertThat(response.body()).isEqualTo(answer);
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("Content-Type")).contains(accept);
    }
}
