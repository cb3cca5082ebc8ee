package dev.berth.engine.onnx;

import static dev.berth.testing.OnnxModel.attribute;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.within;
import static org.awaitility.Awaitility.await;

import dev.berth.engine.Engine;
import dev.berth.engine.EngineException;
import dev.berth.engine.Graph;
import dev.berth.engine.GraphNames;
import dev.berth.engine.GraphPort;
import dev.berth.engine.InvalidInputException;
import dev.berth.engine.KeptTensor;
import dev.berth.engine.RowCheck;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InsufficientMemoryException;
import dev.berth.hooks.Tensor;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.Malloc;
import dev.berth.testing.OnnxModel;
import dev.berth.testing.Tensors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Real ONNX Runtime with small files that the tests write.
class OnnxGraphTest {

    private static final Accelerator CPU = new Accelerator.Cpu(2, CpuProfile.ADAPTIVE);

    private static final int LENGTH = 64;

    @AutoClose
    private Graph model;

    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource(CpuProfile.class)
    void aForwardGivesEachOutput(CpuProfile profile) throws IOException {
        var file = OnnxModel.linear().write(directory.resolve("model.onnx"));
        model = Graph.load(file, new Accelerator.Cpu(3, profile));
        assertThat(model.inputNames()).containsExactly("x");
        assertThat(model.outputNames()).containsExactly("y", "twice");
        for (int cores : new int[] {1, 2, 3}) {
            assertThat(model.forward(List.of(Tensor.of(new float[] {1, 2, 3, 4}, 2, 2)), cores))
                    .containsExactly(Tensor.of(new float[] {8, 18}, 2, 1), Tensor.of(new float[] {2, 4, 6, 8}, 2, 2));
        }
        assertThat(model.forward(List.of(Tensor.of(new float[0], 0, 2))))
                .containsExactly(Tensor.of(new float[0], 0, 1), Tensor.of(new float[0], 0, 2));
    }

    @ParameterizedTest
    @CsvSource({"0, 2, 2", "24, 4, 4", "24, 16, 10", "110, 8, 2", "440, 8, 1", "2000, 4, 1"})
    void largeModelsHaveFewerSessions(long megabytes, int cores, int sessions) {
        assertThat(OnnxFile.singleThreaded(megabytes << 20, cores)).isEqualTo(sessions);
    }

    @Test
    void severalThreadsMayForwardAtOnce() throws Exception {
        model = load(OnnxModel.linear());
        try (var threads = Executors.newFixedThreadPool(4)) {
            var calls = IntStream.range(0, 400)
                    .<Callable<Boolean>>mapToObj(i -> () -> model.forward(List.of(Tensor.of(new float[] {i, 0}, 1, 2)))
                                    .getFirst()
                                    .floats()[0]
                            == 2 * i)
                    .toList();
            for (var result : threads.invokeAll(calls)) {
                assertThat(result.get()).isTrue();
            }
        }
    }

    @Test
    void theFileTellsItsNamesAndTypesBeforeItIsLoaded() throws IOException {
        var model = OnnxModel.of("in ids INT64 n length; in half BFLOAT16 n; in w FLOAT 1; out scores FLOAT n")
                .weights("w", new float[] {2}, 1);
        assertThat(new Onnx().names(model.write(directory.resolve("model.onnx"))))
                .isEqualTo(new GraphNames(
                        List.of(
                                port("ids", ElementType.INT64, List.of(-1, -1), List.of("n", "length"), false),
                                port("half", ElementType.FLOAT32, List.of(-1), List.of("n"), false)),
                        List.of(port("scores", ElementType.FLOAT32, List.of(-1), List.of("n"), false)),
                        List.of(),
                        false,
                        false,
                        Optional.empty()));
        model.initializer(OnnxModel.tensor("a", OnnxModel.FLOAT16, 1).bytes(9, new byte[2]))
                .initializer(OnnxModel.tensor("b", OnnxModel.FLOAT16).bytes(9, new byte[2]))
                .output("size", OnnxModel.INT64);
        var more = new Onnx().names(model.write(directory.resolve("more.onnx")));
        assertThat(more.isHalf()).isTrue();
        assertThat(more.output("size"))
                .as("a number alone")
                .contains(port("size", ElementType.INT64, List.of(), List.of(), true));
        assertThat(more.scalesBatches()).isFalse();
        model.node("Neg", List.of("ids"), List.of("scores"))
                .node("DynamicQuantizeLinear", List.of("half"), List.of("small", "scale", "zero"))
                .node("If", List.of("w"), List.of("size"), OnnxModel.attribute("then_branch", new OnnxModel().graph()));
        var nodes = new Onnx().names(model.write(directory.resolve("nodes.onnx")));
        assertThat(nodes.outputs()).as("what a branch uses is not looked at").noneMatch(GraphPort::hasValue);
        assertThat(nodes.scalesBatches()).isTrue();
        assertThat(new Onnx().names(Path.of("README.md"))).isEqualTo(GraphNames.UNKNOWN);
        assertThat(new Onnx().names(directory.resolve("none.onnx"))).isEqualTo(GraphNames.UNKNOWN);
    }

    private static GraphPort port(
            String name, ElementType type, List<Integer> shape, List<String> symbols, boolean hasValue) {
        return new GraphPort(name, Optional.of(type), Optional.of(shape), symbols, hasValue);
    }

    @ParameterizedTest
    @EnumSource(value = ElementType.class, mode = EnumSource.Mode.EXCLUDE, names = "STRING")
    void everyTypeOfNumbersGoesInAndComesOut(ElementType type) throws IOException {
        var input = Tensor.of(new float[] {1, 0, 1}, 3).as(type);
        model = load(identity(type.name().replace("FLOAT32", "FLOAT").replace("FLOAT64", "DOUBLE")));
        assertThat(model.forward(List.of(input))).containsExactly(input);
        var scalar = Tensor.of(new float[] {1}).as(type);
        assertThat(model.forward(List.of(scalar.reshape()))).containsExactly(scalar.reshape());
    }

    @Test
    void textsGoInAndComeOut() throws IOException {
        model = load(identity("STRING"));
        for (var texts : List.of(
                Tensor.of(new String[] {"a", "", "Łódź, 東京"}, 3),
                Tensor.of(new String[] {"a", "b"}, 2, 1),
                Tensor.of(new String[] {"alone"}),
                Tensor.of(new String[0], 0))) {
            assertThat(model.forward(List.of(texts))).containsExactly(texts);
        }
        for (var text : List.of("\0", "😀", "\ud800")) {
            assertThatThrownBy(() -> model.forward(List.of(Tensor.of(new String[] {text}, 1))))
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageStartingWith("found a text with U+0000 or a character beyond U+FFFF");
        }
        assertThatThrownBy(() -> model.forward(List.of(Tensor.of(new long[] {1}, 1))))
                .isInstanceOf(InvalidInputException.class)
                .hasMessage("the model's input x takes string, found int64[1]");
        try (var numbers = load(identity("INT64"))) {
            assertThatThrownBy(() -> numbers.forward(List.of(Tensor.of(new String[] {"1"}, 1))))
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessage("the model's input x takes int64, found string[1]");
        }
    }

    @Test
    void bfloat16IsFloat32Outside() throws IOException {
        model = load(identity("BFLOAT16"));
        var input = Tensor.of(new float[] {1.5f, -0x1.c3p127f, 0x1.01p0f, 0x1.03p0f, Float.NaN}, 5);
        assertThat(model.forward(List.of(input)).getFirst().floats())
                .as("halves are rounded to even")
                .containsExactly(1.5f, -0x1.c4p127f, 1, 1.015625f, Float.NaN);
    }

    @Test
    void whatHasNoTypeOfTensorsComesInTheNextWiderOne() throws IOException {
        model = load(OnnxModel.of("""
                in x INT64 n; Cast x -> a to=UINT16; Cast x -> b to=UINT32; Cast x -> c to=UINT64;
                out a UINT16 n; out b UINT32 n; out c UINT64 n"""));
        assertThat(model.forward(List.of(Tensor.of(new long[] {65535, 4294967295L}, 2))))
                .containsExactly(
                        Tensor.of(new int[] {65535, 65535}, 2),
                        Tensor.of(new long[] {65535, 4294967295L}, 2),
                        Tensor.of(new long[] {65535, 4294967295L}, 2));
        assertThatThrownBy(() -> model.forward(List.of(Tensor.of(new long[] {-1}, 1))))
                .isExactlyInstanceOf(EngineException.class)
                .hasMessageContaining("uint64 beyond the range of int64");
    }

    @Test
    void wholeNumbersOfAnotherTypeAreTakenWhereTheyFit() throws IOException {
        model = load(identity("INT32"));
        var seven = List.of(Tensor.of(new int[] {7}, 1));
        assertThat(model.forward(List.of(Tensor.of(new long[] {7}, 1)))).isEqualTo(seven);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        in x FLOAT n 2; Neg x -> y; out y FLOAT n 2 | FLOAT32 1x2 1 2; FLOAT32 1x2 1 2 | the model takes 1 tensors, [x], found 2
        in x FLOAT n 2; Neg x -> y; out y FLOAT n 2 | `` | the model takes 1 tensors, [x], found 0
        in x FLOAT n 2; Neg x -> y; out y FLOAT n 2 | FLOAT32 1x3 0 0 0 | the model failed: Got invalid dimensions for input: x for the following indices index: 1 Got: 3 Expected: 2
        in x FLOAT n 2; Neg x -> y; out y FLOAT n 2 | FLOAT32 3 0 0 0 | the model failed: Invalid rank for input: x
        in x FLOAT n k; in w FLOAT k m; MatMul x w -> y; out y FLOAT n m | FLOAT32 1x3 0 0 0; FLOAT32 2x1 2 3 | the model failed: MatMul "y": MatMul dimension mismatch
        in x FLOAT n k; in at INT64 m; Gather x at -> z; out z FLOAT m k | FLOAT32 1x2 0 0; INT64 1 9 | the model failed: Gather "z": indices element out of data bounds, idx=9
        in x INT64 n; in by INT64 n; Div x by -> y; out y INT64 n | INT64 1 1; INT64 1 0 | the model failed: Div "y": Integer division by zero
        in x INT32 n; Neg x -> y; out y INT32 n | INT64 1 1099511627776 | the model's input x takes int32, found int64[1]
        in x INT32 n; Neg x -> y; out y INT32 n | FLOAT32 1 7 | the model's input x takes int32, found float32[1]
        """)
    void whatIsWrongWithTheInputsIsTheirs(String words, String inputs, String message) throws IOException {
        model = load(OnnxModel.of(words));
        assertThatThrownBy(() -> model.forward(Tensors.of(inputs)))
                .isInstanceOf(InvalidInputException.class)
                .message()
                .contains(message)
                .hasSizeLessThan(600)
                .doesNotContain("\n", "/onnxruntime");
    }

    /// A CPU without VNNI would stop at 32,767 for two of the products. There is no such CPU in every
    /// machine that tests; without zero points ONNX Runtime 1.28 would end the process on one.
    @ParameterizedTest
    @ValueSource(strings = {"", "zero_x", "zero_x zero_w"})
    void weightsOf8BitsAreMultiplied(String zeroPoints) throws IOException {
        var weights = new byte[LENGTH];
        Arrays.fill(weights, Byte.MAX_VALUE);
        var file = OnnxModel.of("""
                in x FLOAT 1 %d; DynamicQuantizeLinear x -> x8 scale_x zero_x; MatMulInteger x8 w %s -> sums;
                Cast sums -> cast to=FLOAT; Mul scale_x scale_w -> scale; Mul cast scale -> y; out y FLOAT 1 1""".formatted(LENGTH, zeroPoints))
                .initializer(OnnxModel.tensor("w", OnnxModel.INT8, LENGTH, 1).bytes(9, weights))
                .initializer(OnnxModel.tensor("zero_w", OnnxModel.INT8, 1).bytes(9, new byte[1]))
                .weights("scale_w", new float[] {1}, 1)
                .write(directory.resolve("model.onnx"));
        boolean isExact = zeroPoints.endsWith("zero_w");
        assertThat(OnnxFile.checked(file).model().hasZeroPoints()).isEqualTo(isExact);
        var ones = new float[LENGTH];
        Arrays.fill(ones, 1);
        model = Graph.load(file, CPU);
        float sum =
                model.forward(List.of(Tensor.of(ones, 1, LENGTH))).getFirst().floats()[0];
        if (isExact) {
            assertThat(sum).isCloseTo(LENGTH * Byte.MAX_VALUE, within(1f));
        }
    }

    @ParameterizedTest
    @CsvSource({"avx512_bf16 avx512_vnni, true", "asimd bf16, false"})
    void fastMathOfModelJsonIsForCpusOfArm(String cpu, boolean warns) throws IOException {
        var file = OnnxModel.linear().write(directory.resolve("model.onnx"));
        Files.writeString(directory.resolve("model.json"), "{\"fastMath\": \"bf16\"}");
        try (var log = new CapturedLog(OnnxGraph.class)) {
            assertThat(OnnxGraph.entries(file, false, Set.of(cpu.split(" "))))
                    .containsEntry("mlas.enable_gemm_fastmath_arm64_bfloat16", "1");
            assertThat(log.text().contains("fastMath in model.json has no effect: this CPU has no bf16 of Arm"))
                    .isEqualTo(warns);
        }
        Files.writeString(directory.resolve("model.json"), "{\"fastMath\": true}");
        assertThatThrownBy(() -> Graph.load(file, CPU))
                .hasMessageContaining("model.json: fastMath: found true, expected one of bf16");
    }

    @Test
    void aForwardEndsWithTheInterestOfItsCaller() throws Exception {
        model = load(OnnxModel.turning());
        var failure = new CompletableFuture<Throwable>();
        var caller = insideForEver(model, failure);

        caller.interrupt();

        assertThat(failure.get())
                .isInstanceOf(EngineException.class)
                .hasMessage("the forward was ended, because no caller waits for it");
        var two = Tensor.of(new float[] {1, 2}, 1, 2);
        assertThat(model.forward(List.of(two))).as("only that one").containsExactly(two);
    }

    @Test
    void theLastForwardThatLeavesFreesWhatWasClosed() throws Exception {
        model = load(OnnxModel.turning());
        var failure = new CompletableFuture<Throwable>();
        var caller = insideForEver(model, failure);

        model.close();

        assertThatThrownBy(() -> model.forward(List.of(Tensor.of(new float[2], 1, 2))))
                .isInstanceOf(EngineException.class)
                .hasMessage("the model was closed; load it again");
        assertThat(inside(caller)).as("it is not disturbed").isTrue();
        caller.interrupt();
        assertThat(failure.get()).hasMessage("the forward was ended, because no caller waits for it");
        caller.join();
        model.close();
    }

    /// A thread whose forward would take years.
    private static Thread insideForEver(Graph model, CompletableFuture<Throwable> failure) {
        var caller = Thread.ofPlatform()
                .daemon()
                .start(() -> failure.complete(catchThrowable(() ->
                        model.forward(List.of(Tensor.of(new float[] {1e15f, 0}, 1, 2))))));
        await().until(() -> inside(caller));
        return caller;
    }

    private static boolean inside(Thread caller) {
        return Arrays.stream(caller.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals("run") && frame.isNativeMethod());
    }

    @Test
    void runningOutOfMemoryIsToldApartAndTheNextForwardSucceeds() throws IOException {
        model = load(OnnxModel.of("in shape INT64 2; ConstantOfShape shape -> y; out y FLOAT a b"));
        assertThatThrownBy(() -> model.forward(List.of(Tensor.of(new long[] {1 << 30, 1 << 20}, 2))))
                .isInstanceOf(InsufficientMemoryException.class)
                .message()
                .startsWith("there is no memory left for this batch: ")
                .hasSizeLessThan(600)
                .doesNotContain("\n");
        assertThat(model.forward(List.of(Tensor.of(new long[] {1, 2}, 2))))
                .containsExactly(Tensor.of(new float[2], 1, 2));
    }

    /// Three rows of 32 MB take 256 MB of the session's memory, which grows by powers of two.
    @Test
    @EnabledOnOs(OS.LINUX)
    void aCheckOfRowsLeavesNoMemoryBehind() throws IOException {
        var file = OnnxModel.of("""
                in x FLOAT n 1; Expand x wide -> all; ReduceMax all -> y axes=[1]; out y FLOAT n 1""")
                .initializer(OnnxModel.tensor("wide", OnnxModel.INT64, 2)
                        .number(7, 1)
                        .number(7, 8 << 20))
                .write(directory.resolve("model.onnx"));
        model = Graph.load(file, new Accelerator.Cpu(1, CpuProfile.ADAPTIVE));
        long before = Malloc.used();
        var rows = Stream.of(1, 2, 3)
                .map(value -> Tensor.of(new float[] {value}, 1))
                .toList();
        assertThat(RowCheck.of(
                        rows,
                        some -> model.forward(List.of(Tensor.stack(some))).getFirst().unstack().stream()
                                .map(List::of)
                                .toList(),
                        _ -> "y",
                        RowCheck.TOLERANCE))
                .matches(RowCheck.Result::areIndependent);
        assertThat(Malloc.used() - before).isLessThan(100 << 20);
    }

    @ParameterizedTest
    @ValueSource(ints = {OnnxModel.INT64, OnnxModel.STRING})
    void theScoresOfZipMapAreAMatrix(int key) throws IOException {
        var labels = key == OnnxModel.INT64
                ? attribute("classlabels_int64s", List.of(7L, -2L, 30L))
                : attribute("classlabels_strings", List.of("cat", "ant", "dog"));
        model = load(new OnnxModel()
                .opset("ai.onnx.ml", 3)
                .input("x", OnnxModel.FLOAT, "n", 3)
                .node("ai.onnx.ml", "ZipMap", List.of("x"), List.of("scores"), labels)
                .outputOfMaps("scores", key));
        assertThat(model.forward(List.of(Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3))))
                .as("in the order of the labels")
                .containsExactly(Tensor.of(new float[] {2, 1, 3, 5, 4, 6}, 2, 3));
    }

    @Test
    void keptTensorsGoOnFromForwardToForwardAlsoInAnotherGraph() throws IOException {
        model = load(remembering());
        try (var one = model.keep(Tensor.of(new float[2], 2))) {
            assertThat(one.bytes()).isEqualTo(8);
            assertThat(added(model, 1, one)).containsExactly(1, 1);
            try (var other = load(remembering())) {
                assertThat(added(other, 2, one)).containsExactly(3, 3);
            }
            assertThat(added(model, 4, one)).containsExactly(7, 7);
        }
    }

    @Test
    void aForwardThatFailsLeavesWhatIsKeptAsItWas() throws IOException {
        model = load(remembering());
        try (var one = model.keep(Tensor.of(new float[] {1, 2}, 2));
                var three = model.keep(Tensor.of(new float[3], 3))) {
            assertThatThrownBy(() -> added(model, 1, three)).isInstanceOf(InvalidInputException.class);
            assertThatThrownBy(() -> added(model, 1, one, three))
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessage("the model takes 2 tensors, [x, before], found 3");
            assertThat(three.bytes()).isEqualTo(12);
            assertThat(added(model, 1, one)).containsExactly(2, 3);
        }
        try (var adding = load(OnnxModel.of("in x FLOAT n; in y FLOAT n; Add x y -> z; out z FLOAT n"));
                var one = adding.keep(Tensor.of(new float[2], 2));
                var two = adding.keep(Tensor.of(new float[2], 2))) {
            assertThatThrownBy(() -> adding.forward(List.of(), List.of(one, two), 1))
                    .isExactlyInstanceOf(EngineException.class)
                    .hasMessage("the model returned 1 outputs, expected 2 tensors at the end, as many as it was given");
        }
    }

    @Test
    void aKeptTensorIsClosedWithItsGraph() throws IOException {
        KeptTensor orphan;
        try (var closed = load(remembering())) {
            orphan = closed.keep(Tensor.of(new float[2], 2));
            assertThat(orphan.bytes()).isEqualTo(8);
        }
        assertThat(orphan.bytes()).isZero();
        orphan.close();
    }

    private static float[] added(Graph model, float value, KeptTensor... kept) {
        return model.forward(List.of(Tensor.of(new float[] {value, value}, 2)), Arrays.asList(kept), 1)
                .getFirst()
                .floats();
    }

    @Test
    void onOtherDevicesItSaysWhatIsMissing() throws IOException {
        var file = OnnxModel.linear().write(directory.resolve("model.onnx"));
        assertThatThrownBy(() -> Graph.load(file, new Accelerator.Gpu(0)))
                .isInstanceOf(EngineException.class)
                .hasMessage(
                        "%s can't be loaded on gpu 0: this ONNX Runtime has no CUDA; name the libraries of onnxruntime_gpu with JAVA_OPTS=-Donnxruntime.native.path=DIR, or set INSTANCE_TYPE=cpu",
                        file);
        assertThatThrownBy(() -> Graph.load(file, new Accelerator.Inf2(0)))
                .isInstanceOf(EngineException.class)
                .hasMessageEndingWith(": ONNX Runtime does not run there; set INSTANCE_TYPE=cpu");
        assertThat(new Onnx().memory(CPU)).isEmpty();
        assertThat(new Onnx().gpus()).isZero();
        assertThat(Engine.of(file)).isInstanceOf(Onnx.class);
    }

    /// The sum of what it is given and what it remembers, which it remembers.
    private static OnnxModel remembering() {
        return OnnxModel.of("""
                in x FLOAT n; in before FLOAT n; Add x before -> sum; Identity sum -> after;
                out sum FLOAT n; out after FLOAT n""");
    }

    /// Takes any shape.
    private static OnnxModel identity(String type) {
        return OnnxModel.of("in x %1$s ?; Identity x -> y; out y %1$s ?".formatted(type));
    }

    private Graph load(OnnxModel model) throws IOException {
        return Graph.load(model.write(directory.resolve("model.onnx")), CPU);
    }
}
