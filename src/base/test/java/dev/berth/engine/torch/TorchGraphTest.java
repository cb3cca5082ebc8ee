package dev.berth.engine.torch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.pytorch.jni.JniUtils;
import dev.berth.artifact.Target;
import dev.berth.engine.Engine;
import dev.berth.engine.EngineException;
import dev.berth.engine.Graph;
import dev.berth.engine.InvalidInputException;
import dev.berth.engine.KeptTensor;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InsufficientMemoryException;
import dev.berth.hooks.Tensor;
import dev.berth.memory.NativeHeap;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Real libtorch with small TorchScript files; `trace/fixtures.py` makes them.
class TorchGraphTest {

    private static final Path FILES = Path.of("src/test/resources/torchscript");
    private static final long POISON = 13;
    private static final Accelerator CPU = new Accelerator.Cpu(2, CpuProfile.ADAPTIVE);

    @Test
    void aForwardGivesEachOutputRowByRow() {
        try (var model = load("echo.pt")) {
            var inputs = inputs(1, 2, 3, 4, 5, 6).stream()
                    .map(input -> input.reshape(2, 3))
                    .toList();
            assertThat(model.forward(inputs))
                    .containsExactly(
                            Tensor.of(new float[] {1, 2, 3, 4, 5, 6}, 2, 3),
                            Tensor.of(new float[] {1, 2, 3, 4, 0, 1}, 2, 3));
        }
    }

    @Test
    void severalThreadsMayForwardAtOnce() throws Exception {
        try (var model = load("echo.pt");
                var threads = Executors.newFixedThreadPool(4)) {
            var calls = IntStream.range(0, 200)
                    .<Callable<Boolean>>mapToObj(i ->
                            () -> model.forward(inputs(i % 7, 2)).getFirst().floats()[0] == i % 7)
                    .toList();
            for (var result : threads.invokeAll(calls)) {
                assertThat(result.get()).isTrue();
            }
        }
    }

    @Test
    @Tag("ERR-04")
    void runningOutOfMemoryIsToldApartAndTheNextForwardSucceeds() {
        try (var model = load("runs-out-of-memory.pt")) {
            assertThatThrownBy(() -> model.forward(inputs(POISON)))
                    .isInstanceOf(InsufficientMemoryException.class)
                    .message()
                    .contains("memory")
                    .hasSizeLessThan(600)
                    .doesNotContain("Traceback");
            assertThat(model.forward(inputs(2)).getFirst().floats()).containsExactly(2);
        }
    }

    @Test
    @Tag("MME-03")
    void aModelThatThereIsNoMemoryForSaysSo() {
        assertThatThrownBy(() -> load("does-not-fit.pt"))
                .isInstanceOf(InsufficientMemoryException.class)
                .message()
                .startsWith("there is no memory left for does-not-fit.pt on cpu: ")
                .hasSizeLessThan(600);
    }

    /// What `torch.save(model.state_dict(), file)` writes.
    @Test
    void aStateDictSaysHowToMakeATorchScript(@TempDir Path directory) throws IOException {
        var zip = directory.resolve("model.pt");
        try (var out = new ZipOutputStream(Files.newOutputStream(zip))) {
            out.putNextEntry(new ZipEntry("model/data.pkl"));
            out.write(new byte[] {(byte) 0x80, 2, '}', '.'});
        }
        assertThatThrownBy(() -> Graph.load(zip, CPU))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining("found what torch.save writes, such as a state_dict; load it into the model in"
                        + " Python and save torch.jit.trace(model, example) or torch.jit.script(model)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"net.pt2", "model.pt"})
    void anExportedProgramSaysHowToMakeATorchScript(String name, @TempDir Path directory) throws IOException {
        var file = directory.resolve(name);
        try (var out = new ZipOutputStream(Files.newOutputStream(file))) {
            out.putNextEntry(new ZipEntry("net/archive_format"));
            out.write("pt2".getBytes(StandardCharsets.US_ASCII));
            out.putNextEntry(new ZipEntry("net/models/model.json"));
        }
        assertThatThrownBy(() -> Graph.load(file, CPU))
                .isInstanceOf(EngineException.class)
                .hasMessage(
                        "%s can't be loaded as TorchScript: found what torch.export.save writes; save torch.jit.trace(model, example) or "
                                .concat("torch.jit.script(model) instead")
                                .formatted(file));
        assertThat(Engine.isModel(file)).isTrue();
    }

    @Test
    void whatTheModelThrowsIsOneLine() {
        try (var model = load("throws.pt")) {
            assertThatThrownBy(() -> model.forward(inputs(POISON)))
                    .isInstanceOf(InvalidInputException.class)
                    .message()
                    .contains("boom")
                    .doesNotContain("\n");
            assertThat(model.forward(inputs(2)).getFirst().floats()).containsExactly(2);
        }
    }

    /// An input left behind is some 400 bytes, so 500 forwards of 1,000 too many would keep 200 MB.
    @Test
    @Tag("slow")
    @EnabledOnOs(OS.LINUX)
    void aForwardThatFailsLeavesNoInputsBehind() {
        try (var model = load("echo.pt")) {
            var tooMany = Collections.nCopies(1_000, inputs(1).getFirst());
            refuse(model, tooMany, 100);
            long before = NativeHeap.used().orElseThrow();
            refuse(model, tooMany, 500);
            assertThat(NativeHeap.used().orElseThrow() - before).isLessThan(50_000_000);
        }
    }

    private static void refuse(Graph model, List<Tensor> inputs, int times) {
        for (int i = 0; i < times; i++) {
            assertThatThrownBy(() -> model.forward(inputs)).isInstanceOf(InvalidInputException.class);
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "0 | a text",
                "1 | float",
                "2 | (Tensor, NoneType)",
                "3 | a sparse tensor",
                "4 | complex64",
                "5 | complex128",
                "6 | complex32",
                "7 | qint8",
                "8 | uint64 beyond the range of int64"
            })
    void whatNoTensorHoldsAsItIsIsTheModelsFailure(float kind, String found) {
        try (var model = load("unfit.pt")) {
            assertThatThrownBy(() -> model.forward(List.of(Tensor.of(new float[] {kind}, 1))))
                    .isExactlyInstanceOf(EngineException.class)
                    .hasMessageStartingWith("the model returned %s, expected ", found);
        }
    }

    @Test
    void everyTypeThatATensorHoldsKeepsItsNumbers() {
        var outputs = outputs("any-type.pt", Tensor.of(new double[] {16777219, 4294967295.0}, 2));
        assertThat(outputs.get(12)).isEqualTo(Tensor.of(new long[] {16777219, 4294967295L}, 2));
        assertThat(outputs.get(13)).isEqualTo(Tensor.of(new long[] {16777219, 4294967295L}, 2));
        var small = outputs("any-type.pt", Tensor.of(new float[] {3, 32767}, 2));
        assertThat(small.get(10)).isEqualTo(Tensor.of(new int[] {3, 32767}, 2).as(ElementType.INT16));
        assertThat(small.get(11)).isEqualTo(Tensor.of(new int[] {3, 32767}, 2));
    }

    private static List<Tensor> outputs(String file, Tensor input) {
        try (var model = load(file)) {
            return model.forward(List.of(input));
        }
    }

    @Test
    void keptTensorsGoOnFromForwardToForwardAlsoInAnotherGraph() {
        var zeros = Tensor.of(new float[2], 2);
        try (var model = load("remembers.pt");
                var other = load("remembers.pt");
                var one = model.keep(zeros);
                var two = model.keep(Tensor.of(new float[] {10, 20}, 2))) {
            assertThat(one.bytes()).isEqualTo(8);
            assertThat(added(model, 1, one, two)).containsExactly(1, 1);
            assertThat(added(other, 2, two, one)).containsExactly(13, 23);
            assertThat(added(model, 4, one)).containsExactly(7, 7);
            // What a model writes in place is its own.
            assertThat(added(model, 9, one)).containsExactly(9, 9);
            assertThat(zeros.floats()).containsExactly(0, 0);
        }
    }

    @Test
    void whatIsKeptInATypeWithoutANameOfTheEngineHasItsSize() {
        try (var model = load("halves.pt");
                var kept = model.keep(Tensor.of(new float[3], 3))) {
            assertThat(kept.bytes()).isEqualTo(12);
            added(model, 1, kept);
            assertThat(kept.bytes()).isEqualTo(6);
        }
    }

    @Test
    void aForwardThatFailsLeavesWhatIsKeptAsItWas() {
        try (var model = load("remembers.pt");
                var forgets = load("forgets.pt");
                var one = model.keep(Tensor.of(new float[2], 2));
                var two = model.keep(Tensor.of(new float[3], 3))) {
            assertThatThrownBy(() -> added(model, 1, one, two))
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageContaining("The size of tensor a (3) must match the size of tensor b (2)");
            assertThatThrownBy(() -> added(model, 1))
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageContaining("missing value for argument 'kept'");
            assertThatThrownBy(() -> added(model, (float) POISON, one))
                    .isExactlyInstanceOf(EngineException.class)
                    .hasMessage("the model returned a list of 0 tensors at the end, expected 1, as many as it was"
                            + " given");
            assertThatThrownBy(() -> added(forgets, 1, one))
                    .isExactlyInstanceOf(EngineException.class)
                    .hasMessage("the model returned a list of 0 tensors at the end, expected 1, as many as it was"
                            + " given");
            assertThat(added(model, 1, one)).containsExactly(1, 1);
        }
    }

    @Test
    void aTensorThatCantBeGivenToAForwardIsNamed() {
        try (var model = load("remembers.pt");
                var other = load("remembers.pt");
                var open = model.keep(Tensor.of(new float[2], 2))) {
            var closed = model.keep(Tensor.of(new float[2], 2));
            closed.close();
            closed.close();
            assertThat(closed.bytes()).isZero();
            assertThatThrownBy(() -> added(model, 1, open, closed))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("kept[1]: found a closed tensor, expected an open one");
            assertThatThrownBy(() -> added(model, 1, open, open))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("kept[1]: found the same tensor twice, expected another one");
            assertThatThrownBy(() -> added(model, 1, (KeptTensor) null))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("kept[0]: found null, expected a tensor that Graph.keep has returned");
            assertThat(added(model, 1, open)).containsExactly(1, 1);

            var orphan = other.keep(Tensor.of(new float[2], 2));
            other.close();
            assertThatThrownBy(() -> added(model, 1, orphan))
                    .hasMessage("kept[0]: found a closed tensor, expected an open one");
            orphan.close();
        }
    }

    private static float[] added(Graph model, float value, KeptTensor... kept) {
        return model.forward(List.of(Tensor.of(new float[] {value, value}, 2)), Arrays.asList(kept), 1)
                .getFirst()
                .floats();
    }

    @Test
    void anotherShapeThanTheCompiledOneIsRefused() {
        try (var model = load("fixed-shape.pt")) {
            assertThatThrownBy(() -> model.forward(inputs(1, 2))).isInstanceOf(InvalidInputException.class);
            var fitting = inputs(new long[64]).stream()
                    .map(input -> input.reshape(2, 32))
                    .toList();
            assertThat(model.forward(fitting).getFirst().shape()).containsExactly(2, 32);
        }
    }

    @ParameterizedTest
    @MethodSource("refused")
    void whatIsWrongWithTheInputsIsTheirs(String file, List<Tensor> inputs, String message) {
        try (var model = load(file)) {
            assertThatThrownBy(() -> model.forward(inputs))
                    .isInstanceOf(InvalidInputException.class)
                    .hasMessageContaining(message);
        }
    }

    private static List<Arguments> refused() {
        var two = Tensor.of(new float[] {1, 2}, 2);
        var three = Tensor.of(new float[] {1, 2, 3}, 3);
        return List.of(
                Arguments.of(
                        "two-columns.pt", List.of(three.reshape(1, 3)), "shapes cannot be multiplied (1x3 and 2x1)"),
                Arguments.of(
                        "two-columns.pt",
                        List.of(two.as(ElementType.INT64).reshape(1, 2)),
                        "expected m1 and m2 to have the same dtype"),
                Arguments.of(
                        "sum-and-product.pt",
                        List.of(two, three),
                        "The size of tensor a (2) must match the size of tensor b (3)"),
                Arguments.of("sum-and-product.pt", List.of(two), "missing value for argument 'right'"),
                Arguments.of("doubled.pt", List.of(two, two), "Expected at most 2 argument(s)"),
                Arguments.of("fails.pt", List.of(two, Tensor.of(new long[] {9}, 1)), "index out of range in self"),
                Arguments.of(
                        "fails.pt", List.of(two, Tensor.of(new long[] {4}, 1)), "ValueError: found 4, expected less"));
    }

    @ParameterizedTest
    @CsvSource({
        "1, Could not run 'aten::q_scale'",
        "2, Cannot initialize CUDA",
        "3, Expected all tensors to be on the same device"
    })
    void whatIsWrongWithTheModelIsNot(long kind, String message) {
        try (var model = load("fails.pt")) {
            var inputs = List.of(Tensor.of(new float[] {1, 2}, 2), Tensor.of(new long[] {kind}, 1));
            assertThatThrownBy(() -> model.forward(inputs))
                    .isExactlyInstanceOf(EngineException.class)
                    .hasMessageContaining(message);
        }
    }

    @Test
    void inputsAndTheOutputsOfADictHaveNames() {
        try (var model = load("sum-and-product.pt")) {
            assertThat(model.inputNames()).containsExactly("left", "right");
            assertThat(model.outputNames()).containsExactly("product", "sum");
            var outputs = model.forward(List.of(Tensor.of(new float[] {2}, 1), Tensor.of(new float[] {5}, 1)));
            assertThat(outputs).extracting(output -> output.floats()[0]).containsExactly(10f, 7f);
            assertThat(model.outputNames()).containsExactly("product", "sum");
        }
        // `Echo` is there twice: of its own, and inside the model.
        assertThat(TorchNames.of(FILES.resolve("throws.pt")).inputNames())
                .containsExactly("input_ids", "attention_mask", "token_type_ids");
        assertThat(TorchNames.of(Path.of("model-artifact/model.pt")).inputNames())
                .startsWith("input_ids", "attention_mask")
                .hasSize(3);
        assertThat(TorchNames.of(Path.of("README.md")).inputNames()).isEmpty();
    }

    @Test
    void aForwardUsesTheCoresOfItsProfile() {
        for (var profile : CpuProfile.values()) {
            try (var model = Graph.load(FILES.resolve("echo.pt"), new Accelerator.Cpu(3, profile))) {
                JniUtils.setNumThreads(2);
                model.forward(inputs(1), 1);
                assertThat(JniUtils.getNumThreads())
                        .as("%s: the caller's, or a team's", profile)
                        .isEqualTo(profile == CpuProfile.LATENCY ? 2 : 1);
            }
        }
    }

    /// X86, as libtorch itself. On the other architecture it is another number, and the same two
    /// functions.
    @Test
    @EnabledOnOs(architectures = "amd64")
    void theKernelsOfInt8ModelsCanBeChosen() {
        new Torch().loadLibraries(Target.CPU, List.of());
        assertThat(Libtorch.useInt8Kernels((byte) 4)).isTrue();
        try (var model = Graph.load(Path.of("model-artifact/model.pt"), CPU)) {
            assertThat(model.forward(inputs(101, 2054, 102)).getFirst().shape()).containsExactly(1, 3);
        }
    }

    @Test
    @Tag("RUN-14")
    void aModelThatIsCompiledForNeuronSaysWhatItNeeds() {
        assertThatThrownBy(() -> load("needs-neuron-class.pt"))
                .isInstanceOf(EngineException.class)
                .message()
                .contains("compiled for Neuron")
                .contains("libtorchneuron.so")
                .doesNotContain("\n");
    }

    @Test
    void aLibraryThatIsNoneIsNamed(@TempDir Path directory) throws Exception {
        var library = Files.writeString(directory.resolve("libops.so"), "no library");
        assertThatThrownBy(() -> new Torch().loadLibraries(Target.CPU, List.of(library)))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining(library + " can't be loaded beside libtorch");
    }

    @Test
    void outputsKeepTheirTypeAndNumber() {
        try (var model = load("float64.pt")) {
            assertThat(model.forward(inputs(1))).extracting(Tensor::type).contains(ElementType.FLOAT64);
        }
        try (var model = load("one-output.pt")) {
            assertThat(model.forward(inputs(1))).hasSize(1);
        }
    }

    @Test
    @Tag("RUN-14")
    void aFileThatIsNoTorchScriptIsNamed(@TempDir Path directory) throws Exception {
        var file = Files.writeString(directory.resolve("broken.pt"), "no model");
        assertThatThrownBy(() -> Graph.load(file, CPU))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining(file.toString());
        assertThatThrownBy(() -> Graph.load(directory.resolve("missing.pt"), CPU))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining("missing.pt");
    }

    private static Graph load(String file) {
        return Graph.load(FILES.resolve(file), CPU);
    }

    /// Ids, a mask of ones and types of zero.
    private static List<Tensor> inputs(long... ids) {
        var mask = new long[ids.length];
        Arrays.fill(mask, 1);
        return Stream.of(ids, mask, new long[ids.length])
                .map(values -> Tensor.of(values, 1, ids.length))
                .toList();
    }
}
