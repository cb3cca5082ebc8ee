package dev.berth.handler.tensor;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.OnnxModel;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Rows of tables, asked of models that scikit-learn, XGBoost and LightGBM have exported.
class TableServingTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path TREES = Path.of("src/test/resources/trees/trees.zip");

    /// What Python answers: see `train.py`.
    private static final String STAYS = "{\"label\":\"stays\",\"probabilities\":[0.0010913014,0.9989087]}";

    private static final String LEAVES = "{\"label\":\"leaves\",\"probabilities\":[0.87396026,0.12603977]}";

    @AutoClose
    private static TestServer pipeline;

    @AutoClose
    private TestServer server;

    @TempDir
    private Path artifact;

    @BeforeAll
    static void start() throws Exception {
        pipeline = TestServer.artifact(Path.of("examples/scikit-learn")).start();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        text/csv | 34,51000,Paris,3~,18000,,12
        text/csv; header=absent | 34,51000,Paris,3~ ,18000,,12
        text/csv | visits,city,age,income~3,Paris,34,51000~12,,,18000
        text/csv; header=present | visits,city,age,income~3,Paris,34,51000~12,,,18000
        application/jsonlines | [34, 51000, "Paris", 3]~[null, 18000, "", 12]
        application/jsonlines | {"city": "Paris", "age": 34, "income": 51000, "visits": 3}~{"age": "NaN", "income": 18000, "city": null, "visits": 12}
        application/json | [[34, 51000, "Paris", 3], [null, 18000, null, 12]]
        application/json | [[34, 51000, "Paris", 3], [NaN, 18000, NaN, 12]]
        application/json | [{"city": ["Paris"], "age": [34], "income": [51000], "visits": [3]}, [null, 18000, null, 12]]
        """)
    void theColumnsOfARowAreInputs(String type, String body) throws Exception {
        assertThat(pipeline.answer(type, body.replace('~', '\n'))).isEqualTo("[%s,%s]".formatted(STAYS, LEAVES));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        {'instances': [[34, 51000, 'Paris', 3]]} | {'predictions':[STAYS]}
        {'inputs': {'age': [34], 'income': [51000], 'city': ['Paris'], 'visits': [3]}} | {'outputs':{'label':['stays'],'probabilities':[[0.0010913014,0.9989087]]}}
        {'dataframe_split': {'columns': ['visits', 'city', 'age', 'income'], 'data': [[3, 'Paris', 34, 51000]]}} | {'predictions':[STAYS]}
        {'dataframe_records': [{'visits': 3, 'city': 'Paris', 'age': 34, 'income': 51000}]} | {'predictions':[STAYS]}
        """)
    void theAnswerHasTheFormOfTheRequest(String body, String answer) throws Exception {
        assertThat(pipeline.answer(body.replace('\'', '"')))
                .isEqualTo(answer.replace('\'', '"').replace("STAYS", STAYS));
    }

    @Test
    void anAnswerOfCsvHasAColumnForEachNumber() throws Exception {
        assertThat(pipeline.invoke("34,51000,Paris,3\n,18000,,12\n", "Content-Type", "text/csv", "Accept", "text/csv")
                        .body())
                .isEqualTo("stays,0.0010913014,0.9989087\nleaves,0.87396026,0.12603977");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        text/csv | 34,51000,Paris,3~34,1,Paris, | row 2, column 4: found "", expected a whole number that is int64
        text/csv | 34,51000,Paris,2.5 | row 1, column 4: found "2.5", expected a whole number that is int64
        text/csv | 34,much,Paris,3 | row 1, column 2: found "much", expected a number
        text/csv | 34,51000,Paris,3~34,51000 | row 2: found 2 columns, expected 4: [age, income, city, visits]
        text/csv; header=present | age,city,city,visit~34,1,1,1 | row 1: missing [income, visits], unknown [visit], more than once [city], expected [age, income, city, visits]
        text/csv; header=present | age,income,city,visits,id~1 | row 1: unknown [id], expected [age, income, city, visits]
        text/csv; header=absent | age,income,city,visits | row 1, column 1: found "age", expected a number
        application/jsonlines | {"age": 34} | line 1: missing [income, city, visits], expected [age, income, city, visits]
        application/json | {"instances": [[34, 51000]]} | instances[0]: found a list of 2, expected one of 4, or an object with [age, income, city, visits]
        application/json | [[34, 51000, 7, 3]] | [0][2]: found 7, expected a text
        application/json | [[34, 51000, "", null]] | [0][3]: found null, expected a whole number that is int64
        application/json | [[34, 51000, "", NaN]] | [0][3]: found NaN, expected a whole number that is int64
        application/json | [["x", 51000, "", 3]] | [0][0]: found the text "x", expected a number
        application/json | [[[1, 2], 51000, "", 3]] | [0][0]: found a list, expected a value
        application/json | [[34, 51000, "😀", 3]] | found a text with U+0000 or a character beyond U+FFFF
        application/json | {"dataframe_split": {"columns": ["age"], "data": [[1, 2]]}} | dataframe_split.data: found a list of 2, expected a list of 1, as there are columns
        application/json | {"dataframe_records": [{"age": 34}]} | dataframe_records[0]: missing [income, city, visits], expected [age, income, city, visits]
        text/libsvm | 0:1 | line 1, column 4: found "", expected a whole number that is int64
        """)
    void whatIsWrongIsNamed(String type, String body, String message) throws Exception {
        assertStatus(
                pipeline.invoke(body.replace('~', '\n'), "Content-Type", type), 400, message.replace("\"", "\\\""));
    }

    @Test
    void aBadRowMayBeKeptInItsPlace() throws Exception {
        server = TestServer.artifact(Path.of("examples/scikit-learn")).start("BERTH_BAD_RECORDS=keep");
        assertThat(server.answer("text/csv", "x\n34,51000,Paris,3"))
                .startsWith("[{\"error\":\"row 1: found 1 column")
                .endsWith(STAYS + "]");
    }

    @Test
    void textsAreNoArraysOfNumPy() throws Exception {
        assertStatus(
                pipeline.invoke("34,51000,Paris,3", "Content-Type", "text/csv", "Accept", "application/x-npz"),
                406,
                "expected one of [application/json,");
    }

    @ParameterizedTest
    @ValueSource(strings = {"random-forest", "isolation-forest", "xgboost", "lightgbm"})
    void treesAnswerAsInPython(String name) throws Exception {
        var cases = JSON.readTree(file(name + ".json"));
        var json = new ArrayList<String>();
        var csv = new ArrayList<String>();
        var libsvm = new ArrayList<String>();
        for (var each : cases) {
            var row = each.path("row");
            json.add(row.toString());
            csv.add(row.valueStream().map(cell -> cell.asText("")).collect(Collectors.joining(",")));
            libsvm.add(IntStream.range(0, row.size())
                    .filter(i -> !row.path(i).isNull())
                    .mapToObj(i -> i + ":" + row.path(i))
                    .collect(Collectors.joining(" ")));
        }
        server = serve(name, null);
        assertAnswers(server, "text/csv", String.join("\n", csv), cases);
        assertAnswers(server, "text/csv; header=present", "a,b,c,d\n" + String.join("\n", csv), cases);
        assertAnswers(server, "text/libsvm", "1 " + String.join("\n1 ", libsvm) + "\n", cases);
        assertAnswers(server, "text/x-libsvm", String.join("\n", libsvm), cases);
        assertAnswers(server, "application/jsonlines", String.join("\n", json), cases);
    }

    @Test
    void modelJsonNamesTheColumnsOfAMatrixAndTheOutputsThatAreWanted() throws Exception {
        var json = """
        {"format": 1, "files": [{"path": "model.onnx"}], "outputs": ["probabilities"],
         "inputs": [{"name": "input", "columns": ["a", "b", "c", "d"]}]}""";
        server = serve("xgboost", json);
        var expected = server.answer("text/csv", "1,2,,4");
        assertThat(expected).startsWith("[[0.").endsWith("]]");
        for (var csv : List.of("d,a,b,c\n4,1,2,", "a,b,c,d\n1,2,NaN,4", "a,b,c,d\n1,2,nan,4")) {
            assertThat(server.answer("text/csv", csv)).isEqualTo(expected);
        }
        for (var line : List.of(
                "{\"d\": 4, \"b\": 2, \"c\": null, \"a\": 1}", "[1, 2, null, 4]", "{\"input\": [1, 2, null, 4]}")) {
            assertThat(server.answer("application/jsonlines", line)).isEqualTo(expected);
        }
        assertThat(server.invoke("{\"a\": 1, \"id\": 7}").body())
                .contains("body: missing [b, c, d], unknown [id], expected [a, b, c, d]");
        try (var unnamed = serve("xgboost", null)) {
            assertThat(unnamed.invoke("{\"a\": 1, \"id\": 7}").body())
                    .contains(
                            "body: found an object, expected a list of 4, or columns in model.json with the names of them all");
        }
    }

    @Test
    void libsvmHasTheNumbersOfCsv() throws Exception {
        server = serve("xgboost", null);
        assertThat(server.answer("text/libsvm", "1 0:1e0 1:NAN 2:-inf 3:+Infinity"))
                .isEqualTo(server.answer("text/csv", "1,,-INF,inf"))
                .isNotEqualTo(server.answer("text/csv", "1,,,"));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        1 0:1 4:1 | line 1: found "4:1", expected index:value with each index from 0 to 3 at most once
        1 0:1 0:2 | line 1: found "0:2", expected index:value
        1 -1:1 | line 1: found "-1:1", expected index:value
        1 2: 3:1 | line 1: found "2:", expected index:value
        1 1:1 2 | line 1: found "2", expected index:value
        1 qid:3 | line 1: found "qid:3", expected index:value
        1 2:x | line 1, column 3: found "x", expected a number
        '' | body: found nothing
        """)
    void whatIsWrongWithLibsvmIsNamed(String body, String message) throws Exception {
        server = serve("xgboost", null);
        assertStatus(server.invoke(body, "Content-Type", "text/libsvm"), 400, message.replace("\"", "\\\""));
    }

    @Test
    void libsvmNeedsToKnowTheColumnsAndIsNoAnswer() throws Exception {
        OnnxModel.of("in x FLOAT n m; Identity x -> y; out y FLOAT n m").write(artifact.resolve("model.onnx"));
        server = TestServer.artifact(artifact).start();
        assertStatus(
                server.invoke("0:1", "Content-Type", "text/libsvm"),
                415,
                "the model does not say how many columns it has");
        assertStatus(server.invoke("[1]", "Accept", "text/libsvm"), 406);
        assertThat(server.answer("text/csv", "1,\n2,3")).isEqualTo("[[1.0,null],[2.0,3.0]]");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        ['a', 'b'] | model.json: inputs[0].columns: found 2, expected 4, as many as the model takes
        ['a', 'b', 'a', 'c'] | model.json: inputs: found columns [a, b, a, c], expected each once
        7 | model.json: inputs[0].columns: found 7, expected a list of names
        """)
    void columnsThatContradictTheModelAreRefusedAtStart(String columns, String problem) throws Exception {
        var json = "{'format': 1, 'files': [{'path': 'model.onnx'}], 'inputs': [{'name': 'input', 'columns': " + columns
                + "}]}";
        prepare("xgboost", json.replace('\'', '"'));
        TestServer.artifact(artifact).assertDoesNotStart(problem);
    }

    /// The boxes of a picture, as an export with NMS inside returns them: as many as there are.
    @Test
    void theBoxesOfAPictureAreItsAnswer() throws Exception {
        OnnxModel.of("""
                in boxes FLOAT 1 n 4; in scores FLOAT 1 1 n;
                NonMaxSuppression boxes scores most overlap least -> selected; out selected INT64 k 3""")
                .initializer(OnnxModel.tensor("most", OnnxModel.INT64, 1).number(7, 10))
                .weights("overlap", new float[] {0.5f}, 1)
                .weights("least", new float[] {0.3f}, 1)
                .write(artifact.resolve("model.onnx"));
        server = TestServer.artifact(artifact).start();
        var two = "{\"boxes\": [[0,0,1,1],[0,0,1,0.9],[5,5,6,6]], \"scores\": [[0.9,0.8,0.7]]}";
        var none = "{\"boxes\": [[0,0,1,1]], \"scores\": [[0.1]]}";
        assertThat(server.answer("{\"instances\": [%s, %s]}".formatted(two, none)))
                .isEqualTo("{\"predictions\":[[[0,0,0],[0,0,2]],[]]}");
        assertThat(server.answer(two)).isEqualTo("[[0,0,0],[0,0,2]]");
    }

    private TestServer serve(String model, String modelJson) throws Exception {
        prepare(model, modelJson);
        return TestServer.artifact(artifact).start();
    }

    private void prepare(String model, String modelJson) throws Exception {
        Files.write(artifact.resolve("model.onnx"), file(model + ".onnx"));
        Files.deleteIfExists(artifact.resolve("model.json"));
        if (modelJson != null) {
            Files.writeString(artifact.resolve("model.json"), modelJson);
        }
    }

    private static byte[] file(String name) throws IOException {
        try (var zip = FileSystems.newFileSystem(TREES)) {
            return Files.readAllBytes(zip.getPath(name));
        }
    }

    private static void assertAnswers(TestServer server, String type, String body, JsonNode cases) throws Exception {
        var response = server.invoke(body, "Content-Type", type, "Accept", "text/csv");
        assertStatus(response, 200);
        var rows = response.body().lines().map(row -> row.split(",")).toList();
        assertThat(rows).hasSize(cases.size());
        for (int i = 0; i < rows.size(); i++) {
            assertThat(rows.get(i)[0]).isEqualTo(cases.path(i).path("label").asText());
            var scores = cases.path(i).path("scores");
            assertThat(Arrays.stream(rows.get(i))
                            .skip(1)
                            .mapToDouble(Double::parseDouble)
                            .toArray())
                    .as("%s of row %d", type, i)
                    .containsExactly(
                            scores.valueStream()
                                    .mapToDouble(JsonNode::doubleValue)
                                    .toArray(),
                            within(2e-6));
        }
    }
}
