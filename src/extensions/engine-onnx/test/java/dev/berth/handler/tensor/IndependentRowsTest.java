package dev.berth.handler.tensor;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.content.Npy;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.Tensor;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.OnnxModel;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What the first dimension of a forward means, over HTTP: rows go through a model beside those of
/// other callers only where they are known to be independent.
class IndependentRowsTest {

    private static final String INDEPENDENT =
            "{\"format\": 1, \"files\": [{\"path\": \"model.onnx\"}], \"independentRows\": %s}";

    @AutoClose
    private CapturedLog log;

    @AutoClose
    private TestServer server;

    @TempDir
    private Path artifact;

    /// One request alone has a mean of its own, and that is the row itself.
    @ParameterizedTest
    @ValueSource(strings = {"onnx", "torchscript"})
    void noNumberOfACallerReachesAnother(String engine) throws Exception {
        centred(engine);
        server = slowlyMerging().start();
        var answers = IntStream.range(1, 40)
                .mapToObj(i -> server.invokeAsync("[[%d, 7]]".formatted(i), json()))
                .toList();
        for (var answer : answers) {
            assertThat(answer.join().body()).isEqualTo("[[0.0,0.0]]");
        }
        assertThat(server.answer("[[1, 2], [3, 6]]")).isEqualTo("[[-1.0,-2.0],[1.0,2.0]]");
        assertThat(server.answer("[1, 2]")).isEqualTo("[0.0,0.0]");
    }

    @Test
    void independentRowsOfSeveralCallersStillShareAForward() throws Exception {
        OnnxModel.linear().write(artifact.resolve("model.onnx"));
        server = TestServer.artifact(artifact).set("BERTH_MAX_BATCH_SIZE", "8").start("BERTH_MAX_BATCH_DELAY_MS=60000");
        var answers = IntStream.range(0, 8)
                .mapToObj(i -> server.invokeAsync("[[1, %d]]".formatted(i), json()))
                .toList();
        CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new)).join();
        assertThat(answers.get(3).join().body()).isEqualTo("[{\"y\":[11.0],\"twice\":[2.0,6.0]}]");
        assertThat(server.get("/metrics").body().lines())
                .filteredOn(line -> line.startsWith("berth_batch_size_count"))
                .singleElement()
                .asString()
                .matches(".* 1(\\.0)?");
    }

    /// More steps than a batch has rows.
    @Test
    void aRequestIsNotCutWhereEachStepNeedsThoseBefore() throws Exception {
        OnnxModel.cumulative().write(artifact.resolve("model.onnx"));
        var steps = IntStream.rangeClosed(1, 40)
                .mapToObj(i -> "[1, %d]".formatted(i))
                .toList();
        var expected = IntStream.rangeClosed(1, 40)
                .mapToObj(i -> "[%d.0,%d.0]".formatted(i, i * (i + 1) / 2))
                .collect(Collectors.joining(",", "[", "]"));
        var list = "[%s]".formatted(String.join(",", steps));
        server = TestServer.artifact(artifact).start();
        assertThat(server.answer(list)).isEqualTo(expected);
        assertThat(server.answer("{\"instances\": %s}".formatted(list)))
                .isEqualTo("{\"predictions\":%s}".formatted(expected));
        assertThat(server.answer("{\"inputs\": {\"x\": %s}}".formatted(list)))
                .isEqualTo("{\"outputs\":%s}".formatted(expected));
        assertThat(server.answer("{\"x\": %s}".formatted(list)))
                .as("the array that the model takes")
                .isEqualTo(expected);
        assertThat(server.answer("application/jsonlines", String.join("\n", steps)))
                .isEqualTo(expected);
        var csv = String.join("\n", steps).replaceAll("[\\[\\] ]", "");
        assertThat(server.answer("text/csv", csv)).isEqualTo(expected);
        assertThat(npy(server, Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 3, 2)))
                .isEqualTo(Tensor.of(new float[] {1, 2, 4, 6, 9, 12}, 3, 2));
    }

    @Test
    void allRowsMayHaveOneAnswer() throws Exception {
        OnnxModel.mostOfAllRows().write(artifact.resolve("model.onnx"));
        server = TestServer.artifact(artifact).start();
        assertThat(server.answer("[[1, 9], [5, 2], [3, 3]]")).isEqualTo("[[5.0,9.0]]");
        assertThat(server.answer("{\"instances\": [[1, 9], [5, 2]]}")).isEqualTo("{\"predictions\":[[5.0,9.0]]}");
        assertThat(server.answer("{\"points\": [[1, 9], [5, 2]]}")).isEqualTo("[[5.0,9.0]]");
        assertThat(server.invoke("1,9\n5,2", "Content-Type", "text/csv", "Accept", "text/csv")
                        .body())
                .isEqualTo("5.0,9.0");
        assertThat(npy(server, Tensor.of(new float[] {1, 9, 5, 2}, 2, 2)))
                .isEqualTo(Tensor.of(new float[] {5, 9}, 1, 2));
        assertStatus(
                server.invoke("[[1, 2], [3]]", json()),
                400,
                "row 2 of 2: found [float32[1]], expected [float32[2]] as in the first row: the model takes all rows of a request in one forward");
        assertStartFails(
                INDEPENDENT.formatted("\"yes\""), "model.json: independentRows: found \"yes\", expected true or false");
        assertStartFails(
                INDEPENDENT.formatted("true"),
                "model.json: independentRows: found true, and model.onnx says otherwise: its output most is [1, 2], which does not begin with the rows of its inputs; leave independentRows out");
    }

    /// With a number for each row, and one for all of them.
    @Test
    void severalOutputsOfARequestAreAnsweredAsTheyAre() throws Exception {
        torchScript("widest.pt");
        server = TestServer.artifact(artifact).start();
        var outputs = "{\"rest\":[[20.0,1.0],[46.0,0.0]],\"widest\":[[41.0,3.0]]}";
        assertThat(server.answer("[[21, 2], [-5, 3]]")).isEqualTo(outputs);
        assertThat(server.answer("{\"instances\": [[21, 2], [-5, 3]]}"))
                .isEqualTo("{\"predictions\":%s}".formatted(outputs));
        assertThat(server.answer("text/csv", "21,2\n-5,3")).isEqualTo(outputs);
        assertThat(server.answer("[21, 2]"))
                .as("one row, and so one answer")
                .isEqualTo("{\"rest\":[20.0,0.0],\"widest\":[41.0,2.0]}");
        try (var keeping = TestServer.artifact(artifact).start("BERTH_BAD_RECORDS=keep")) {
            assertStatus(keeping.invoke("[1, 2]\nx", "Content-Type", "application/jsonlines"), 400, "line 2: not JSON");
        }
    }

    /// `probabilities` has the outputs of a forest first, as many as there are rows; `classes` are the same
    /// for all.
    @Test
    void anOutputThatDoesNotBeginWithTheRowsIsAnsweredAsItIs() throws Exception {
        OnnxModel.of("""
                in x FLOAT n 3; Unsqueeze x front -> one; Neg one -> other;
                Concat one other -> probabilities axis=0; Identity names -> classes;
                out probabilities FLOAT 2 n 3; out classes INT64 3""")
                .initializer(OnnxModel.tensor("names", OnnxModel.INT64, 3)
                        .number(7, 10)
                        .number(7, 20)
                        .number(7, 30))
                .initializer(OnnxModel.tensor("front", OnnxModel.INT64, 1).number(7, 0))
                .write(artifact.resolve("model.onnx"));
        server = TestServer.artifact(artifact).start();
        assertThat(server.answer("[[1,8,9],[2,8,9]]"))
                .isEqualTo(
                        "{\"probabilities\":[[[1.0,8.0,9.0],[2.0,8.0,9.0]],[[-1.0,-8.0,-9.0],[-2.0,-8.0,-9.0]]],\"classes\":[10,20,30]}");
    }

    @Test
    void eachRowOfAnyRequestHasAllOfAConstant() throws Exception {
        OnnxModel.of("in x FLOAT n 2; Neg x -> y; Identity names -> classes; out y FLOAT n 2; out classes INT64 3")
                .initializer(OnnxModel.tensor("names", OnnxModel.INT64, 3)
                        .number(7, 10)
                        .number(7, 20)
                        .number(7, 30))
                .write(artifact.resolve("model.onnx"));
        Files.writeString(artifact.resolve("sample.json"), "[[1, 2], [3, 4]]");
        log = new CapturedLog();
        server = TestServer.artifact(artifact).start();
        assertThat(log.text()).contains("a forward takes rows of any requests together");
        assertThat(server.answer("[[1,2],[3,4],[5,6]]"))
                .isEqualTo(Stream.of("-1.0,-2.0", "-3.0,-4.0", "-5.0,-6.0")
                        .map("{\"y\":[%s],\"classes\":[10,20,30]}"::formatted)
                        .collect(Collectors.joining(",", "[", "]")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"text/csv", "application/jsonlines"})
    void rowsThatWereSentAsColumnsAreLines(String accept) throws Exception {
        OnnxModel.of("in x FLOAT n 2; Neg x -> y; Add x x -> twice; out y FLOAT n 2; out twice FLOAT n 2")
                .write(artifact.resolve("model.onnx"));
        server = TestServer.artifact(artifact).start();
        assertThat(server.answer("{\"inputs\": [[1,2],[3,4]]}"))
                .isEqualTo("{\"outputs\":{\"y\":[[-1.0,-2.0],[-3.0,-4.0]],\"twice\":[[2.0,4.0],[6.0,8.0]]}}");
        assertThat(server.invoke("{\"inputs\": [[1,2],[3,4]]}", "Accept", accept)
                        .body()
                        .lines())
                .hasSize(2);
    }

    @Test
    void aNumberBesideABatchIsRefusedByTheEngine() throws Exception {
        OnnxModel.of("in a FLOAT n 2; in b FLOAT n 2; Add a b -> y; out y FLOAT n 2")
                .write(artifact.resolve("model.onnx"));
        Files.writeString(artifact.resolve("model.json"), INDEPENDENT.formatted("false"));
        server = TestServer.artifact(artifact).start();
        assertStatus(server.invoke("{\"a\": [[1,2],[3,4]], \"b\": 5}"), 400);
    }

    /// The rows of as many callers as there are columns would be cut across.
    @ParameterizedTest
    @ValueSource(strings = {"3 n", "columns n", "unk__1 n"})
    void rowsBehindAnotherDimensionContradictIndependentRows(String shape) throws Exception {
        OnnxModel.of("in x FLOAT n 3; Transpose x -> y; out y FLOAT " + shape).write(artifact.resolve("model.onnx"));
        assertStartFails(
                INDEPENDENT.formatted("true"),
                "its output y is [%s], which does not begin with the rows".formatted(shape.replace(" ", ", ")));
    }

    /// Each row is a model, what `model.json` says of its rows, a sample, a request and its answer, and the end
    /// of "a forward takes …" in the log.
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
      # An output that begins with another name.
      in x FLOAT rows; Unique x -> kinds; out kinds FLOAT kinds | - | - | {"instances": [3, 1, 3, 2]} | {"predictions":[1.0,2.0,3.0]} | all rows of a request, and no others: its output kinds is [kinds], which does not begin with the rows of its inputs
      # What exporters number says nothing: the rows themselves do.
      in x FLOAT n 2; Neg x -> y; out y FLOAT unk__7 2              | - | - | [[1, 2]] | [[-1.0,-2.0]] | rows of any requests together: made-up rows
      in x FLOAT unk__6 2; Neg x -> y; out y FLOAT unk__7 2         | - | - | [[1, 2]] | [[-1.0,-2.0]] | rows of any requests together: made-up rows
      in x FLOAT batch 2; Neg x -> y; out y FLOAT y_dim_0 2         | - | - | [[1, 2]] | [[-1.0,-2.0]] | rows of any requests together: made-up rows
      in x FLOAT s77 2; Neg x -> y; out y FLOAT s78 2               | - | - | [[1, 2]] | [[-1.0,-2.0]] | rows of any requests together: made-up rows
      in x FLOAT p2o.DynamicDimension.0 2; Neg x -> y; out y FLOAT p2o.DynamicDimension.2 2 | - | - | [[1, 2]] | [[-1.0,-2.0]] | rows of any requests together: made-up rows
      # model.json has the last word.
      in x FLOAT n 2; ReduceMean x -> mean axes=[0]; Sub x mean -> y; out y FLOAT n 2 | true | - | [[1, 2]] | [[0.0,0.0]] | rows of any requests together: independentRows in model.json is true
      in x FLOAT n 2; Add x x -> y; out y FLOAT n 2 | false | - | [[1, 2], [3, 4]] | [[2.0,4.0],[6.0,8.0]] | all rows of a request, and no others: independentRows in model.json is false
      # Texts can be tried by a sample alone, as nobody knows the model's words.
      in x STRING n 1; Identity x -> y; out y STRING n 1 | - | - | [["a"], ["b"]] | [["a"],["b"]] | all rows of a request, and no others: no rows have been tried; if its rows are independent of each other, say "independentRows": true in model.json
      in x STRING n 1; Identity x -> y; out y STRING n 1 | - | [["a"], ["b"], ["c"]] | [["a"]] | [["a"]] | rows of any requests together
      """)
    void theLogSaysWhichRowsGoTogether(
            String model, String independent, String sample, String request, String answer, String rows)
            throws Exception {
        OnnxModel.of(model).write(artifact.resolve("model.onnx"));
        if (!independent.equals("-")) {
            Files.writeString(artifact.resolve("model.json"), INDEPENDENT.formatted(independent));
        }
        if (!sample.equals("-")) {
            Files.writeString(artifact.resolve("sample.json"), sample);
        }
        log = new CapturedLog();
        server = TestServer.artifact(artifact).start();
        assertThat(server.answer(request)).isEqualTo(answer);
        assertThat(log.text()).contains("a forward takes " + rows);
    }

    /// Nothing but the sample tells what a row is like.
    @Test
    void aSampleShowsWhatTheFileDoesNot() throws Exception {
        torchScript("two-columns.pt");
        try (var first = new CapturedLog()) {
            Files.writeString(artifact.resolve("sample.json"), "[[[1, 2.5]], [[3, 4]]]");
            try (var alike = TestServer.artifact(artifact).start()) {
                assertThat(alike.answer("[[[1, 2]]]")).isEqualTo("[[[21.0]]]");
            }
            assertThat(first.text()).contains("together: rows like those of the sample were answered the same");
        }
        log = new CapturedLog();
        torchScript("centred.pt");
        Files.writeString(artifact.resolve("sample.json"), "[[1, 2]]");
        server = TestServer.artifact(artifact).start();
        assertThat(server.answer("[[1], [3]]")).isEqualTo("[[-1.0],[1.0]]");
        assertThat(log.text()).contains("rows like those of the sample depend on each other: ");
    }

    /// Nobody can make up its cities. One forward a request is answered row by row, as the file says.
    @Test
    void aPipelineWithoutASampleIsStillATable() throws Exception {
        Files.copy(Path.of("examples/scikit-learn/model.onnx"), artifact.resolve("model.onnx"));
        log = new CapturedLog();
        server = TestServer.artifact(artifact).start("BERTH_BAD_RECORDS=keep");
        var rows = "34,51000,Paris,3\nx\n,18000,,12";
        var answer = server.invoke(rows, "Content-Type", "text/csv", "Accept", "text/csv")
                .body();
        assertThat(answer.lines().toList())
                .hasSize(3)
                .satisfies(lines -> assertThat(lines.get(0)).startsWith("stays,0.00109"))
                .satisfies(lines -> assertThat(lines.get(1)).startsWith("\"ERROR: row 2"))
                .satisfies(lines -> assertThat(lines.get(2)).startsWith("leaves,0.87396"));
        assertThat(log.text()).contains("a forward takes all rows of a request, and no others");
    }

    /// The class that a hook's records go to can't make one of a request.
    @Test
    void recordsOfAHookGoAloneWhereTheyMayDepend() throws Exception {
        torchScript("centred.pt");
        var handler = new TensorHandler(artifact) {
            @Override
            public List<List<Tensor>> inputFn(InvocationRequest request) throws IOException {
                return super.inputFn(request);
            }
        };
        server = TestServer.with(handler).start("BERTH_MAX_BATCH_DELAY_MS=100");
        var answers = IntStream.range(0, 8)
                .mapToObj(i -> server.invokeAsync("[[%d]]".formatted(i), json()))
                .toList();
        for (var answer : answers) {
            assertThat(answer.join().body()).isEqualTo("[[0.0]]");
        }
    }

    private TestServer.Builder slowlyMerging() {
        return TestServer.artifact(artifact).set("BERTH_MAX_BATCH_SIZE", "8").set("BERTH_MAX_BATCH_DELAY_MS", "200");
    }

    private void centred(String engine) throws IOException {
        if (engine.equals("torchscript")) {
            torchScript("centred.pt");
            return;
        }
        OnnxModel.of("""
                in x FLOAT n 2; ReduceMean x -> mean axes=[0]; Sub x mean -> y; out y FLOAT n 2""").write(artifact.resolve("model.onnx"));
    }

    private void torchScript(String file) throws IOException {
        Files.write(artifact.resolve("model.pt"), Files.readAllBytes(TestArtifact.TORCHSCRIPT.resolve(file)));
    }

    private void assertStartFails(String modelJson, String problem) throws Exception {
        Files.writeString(artifact.resolve("model.json"), modelJson);
        TestServer.artifact(artifact).assertDoesNotStart(problem);
    }

    private static String[] json() {
        return new String[] {"Content-Type", "application/json"};
    }

    private static Tensor npy(TestServer server, Tensor tensor) throws Exception {
        var type = "application/x-npy";
        return Npy.read(server.invoke(Npy.write(tensor), "Content-Type", type, "Accept", type)
                .body());
    }
}
