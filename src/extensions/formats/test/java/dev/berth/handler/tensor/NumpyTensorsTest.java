package dev.berth.handler.tensor;

import static dev.berth.testing.TestArtifact.TWO_INPUTS;
import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.content.Npy;
import dev.berth.content.NpyFiles;
import dev.berth.content.Npz;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Arrays of NumPy to models of tensors and back, over HTTP. `TensorHandlerTest` has the other types.
class NumpyTensorsTest {

    private static final List<ElementType> NUMBERS = Arrays.stream(ElementType.values())
            .filter(type -> type != ElementType.STRING)
            .toList();

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

    @Test
    @Tag("HOOK-05")
    void numpysArraysGoInAndComeOut() throws Exception {
        var rows = Tensor.of(new float[] {1, 2, 3, 4}, 2, 2);
        assertThat(npy(doubled, rows)).isEqualTo(Tensor.of(new float[] {2, 4, 6, 8}, 2, 2));
        assertThat(npy(doubled, Tensor.of(new double[] {1, 2}, 2))).isEqualTo(Tensor.of(new float[] {2, 4}, 2));
        assertThat(npy(doubled, Tensor.of(new long[] {1, 2}, 2, 1))).isEqualTo(Tensor.of(new long[] {2, 4}, 2, 1));
        assertThat(npy(doubled, Tensor.of(new float[0], 0, 3)).size()).isZero();
        assertThat(npz(doubled, Map.of("x", rows)))
                .containsExactly(Map.entry("output_0", Tensor.of(new float[] {2, 4, 6, 8}, 2, 2)));
        assertThat(text(doubled, Npy.write(rows), "application/json")).isEqualTo("[[2.0,4.0],[6.0,8.0]]");
    }

    @Test
    @Tag("ERR-01")
    void aBodyWithoutArraysIsTheCallersFailure() throws Exception {
        assertStatus(doubled.invoke("no array", "Content-Type", "application/x-npy"), 400, "offset 0");
        for (var none : List.of(NpyFiles.read("empty.npz"), Npz.write(new LinkedHashMap<>()))) {
            assertStatus(
                    send(doubled, none, "application/x-npz", "application/json"),
                    400,
                    "body: found the names [], expected one");
        }
    }

    @Test
    void everyTypeOfTheEngineComesOut() throws Exception {
        try (var server = started("any-type", "any-type.pt", null)) {
            var one = Tensor.of(new float[] {1}, 1, 1);
            var outputs = npz(server, Map.of("x", one));
            assertThat(outputs.values().stream().map(Tensor::type).map(ElementType::toString))
                    .containsExactly(("bool uint8 int8 int32 int64 float16 float32 float64 float32 float32 "
                                    + "int16 int32 int64 int64")
                            .split(" "));
            assertThat(outputs.values())
                    .allSatisfy(output -> assertThat(output.floats()).containsExactly(1));
            for (var type : NUMBERS) {
                assertThat(npz(server, Map.of("x", one.as(type))))
                        .as(type.toString())
                        .isNotEmpty();
            }
        }
    }

    @Test
    void numbersOfAnyTypeBecomeThoseThatTheModelTakes() throws Exception {
        var declared = "{\"format\": 1, \"files\": [{\"path\": \"two-columns.pt\"}], \"inputs\": [\"x\"]}";
        var sampled = artifact("float-sample", "two-columns.pt", null);
        Files.writeString(sampled.resolve("sample.json"), "[[70, 3]]");
        for (var artifact : List.of(
                artifact("float-unknown", "two-columns.pt", null),
                artifact("float-declared", "two-columns.pt", declared),
                sampled)) {
            try (var server = TestServer.artifact(artifact).start()) {
                for (var type : NUMBERS) {
                    assertThat(npy(server, Tensor.of(new float[] {1, 0}, 1, 2).as(type)))
                            .as("%s of %s", type, artifact)
                            .isEqualTo(Tensor.of(new float[] {1}, 1, 1));
                }
                // As JSON's numbers do, where float32 has no such one.
                var large = Tensor.of(new long[] {(1 << 24) + 1, 0}, 1, 2);
                assertThat(npy(server, large).floats()).containsExactly(1 << 24);
                assertThat(server.invoke("[[16777217, 0]]").body()).isEqualTo("[[1.6777216E7]]");
            }
        }
    }

    @Test
    void anEmptyBatchHasTheShapesOfTheModel() throws Exception {
        try (var server = started("empty-batch", "sum-and-product.pt", TWO_INPUTS)) {
            server.invoke("{\"left\": [1, 2, 3], \"right\": [4, 5, 6]}");
            var none = Tensor.of(new float[0], 0, 3);
            assertThat(npz(server, Map.of("left", none, "right", none.as(ElementType.INT64))))
                    .containsExactly(
                            Map.entry("product", Tensor.of(new float[0], 0, 3)),
                            Map.entry("sum", Tensor.of(new float[0], 0, 3)));
        }
    }

    @Test
    void arraysOfAnArchiveHaveTheNamesOfInputsAndOutputs() throws Exception {
        var right = Tensor.of(new int[] {3, 4}, 2);
        assertThat(npz(twoInputs, Map.of("right", right, "left", Tensor.of(new float[] {1, 2}, 2))))
                .containsEntry("sum", Tensor.of(new float[] {4, 6}, 2))
                .containsEntry("product", Tensor.of(new float[] {3, 8}, 2));
    }

    @Test
    void wholeNumbersAreNeverChangedInSilence() throws Exception {
        var whole =
                "{\"format\": 1, \"files\": [{\"path\": \"doubled.pt\"}], \"inputs\": [{\"name\": \"x\", \"type\": \"uint8\"}]}";
        try (var server = started("whole", "doubled.pt", whole)) {
            assertThat(text(server, Npy.write(Tensor.of(new long[] {1, 300}, 2)), "text/csv"))
                    .contains("body[1]: found 300, expected a whole number that is uint8");
            assertThat(npy(server, Tensor.of(new long[] {1, 100}, 2)).longs()).containsExactly(2, 200);
            assertThat(npy(server, Tensor.of(new double[] {1, 100}, 2)).longs()).containsExactly(2, 200);
            for (double number : List.of(2.5, 256.0, -1.0, 0x1p63, Double.NaN)) {
                var array = Npy.write(Tensor.of(new double[] {1, 1, 1, number}, 2, 2));
                assertThat(text(server, array, "text/csv"))
                        .contains("body[1][1]: found %s, expected a whole number that is uint8".formatted(number));
            }
        }
    }

    @Test
    void wholeNumbersOfAnyTypeGoToAModelThatTakesNoOthers() throws Exception {
        try (var server = started("whole-unknown", "looked-up.pt", null)) {
            for (var type : List.of(ElementType.UINT8, ElementType.FLOAT16, ElementType.FLOAT64)) {
                assertThat(npy(server, Tensor.of(new float[] {1, 2}, 1, 2).as(type))
                                .floats())
                        .containsExactly(2);
            }
        }
    }

    @Test
    @Tag("INV-05")
    void severalOutputsAreNoSingleArray() throws Exception {
        var accept = "application/x-npy";
        assertStatus(twoInputs.invoke("{\"left\": 1, \"right\": 2}", "Accept", accept), 406, "application/x-npz");
        assertThat(doubled.invoke("[[1], [1, 2]]", "Accept", accept).body())
                .contains("the predictions have different shapes");
    }

    private static TestServer started(String name, String file, String modelJson) throws Exception {
        return TestServer.artifact(artifact(name, file, modelJson)).start();
    }

    private static Path artifact(String name, String file, String modelJson) throws Exception {
        return TestArtifact.tensors(directory, name, file, modelJson);
    }

    private static Tensor npy(TestServer server, Tensor tensor) throws Exception {
        return Npy.read(send(server, Npy.write(tensor), "application/x-npy", "application/x-npy")
                .body());
    }

    private static Map<String, Tensor> npz(TestServer server, Map<String, Tensor> tensors) throws Exception {
        var body = Npz.write(new LinkedHashMap<>(tensors));
        return Npz.read(
                send(server, body, "application/x-npz", "application/x-npz").body());
    }

    private static String text(TestServer server, byte[] npy, String accept) throws Exception {
        return new String(send(server, npy, "application/x-npy", accept).body(), StandardCharsets.UTF_8);
    }

    private static HttpResponse<byte[]> send(TestServer server, byte[] body, String type, String accept)
            throws Exception {
        return server.invoke(body, "Content-Type", type, "Accept", accept);
    }
}
