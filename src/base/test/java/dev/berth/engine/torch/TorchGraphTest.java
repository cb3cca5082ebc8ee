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
import dev.berth.testing.Malloc;
import dev.berth.testing.Tensors;
import java.io.IOException;
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
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Real libtorch with small TorchScript files; `trace/fixtures.py` makes them.
class TorchGraphTest {

    private static final Path FILES = Path.of("src/test/resources/torchscript");
    private static final long POISON = 13;
    private static final Accelerator CPU = new Accelerator.Cpu(2, CpuProfile.ADAPTIVE);

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

    /// What libtorch says of a failure is a traceback of many lines. The model goes on.
    ///
    /// @param inputs as [Tensors] reads them
    /// @param type of exceptions, without that word
    @ParameterizedTest
    @Tag("ERR-04")
    @CsvSource(delimiter = '|', textBlock = """
      two-columns.pt | FLOAT32 1x3 1 2 3 | InvalidInput | cannot be multiplied (1x3 and 2x1)
      two-columns.pt | INT64 1x2 1 2 | InvalidInput | expected m1 and m2 to have the same dtype
      sum-and-product.pt | FLOAT32 2 1 2; FLOAT32 3 1 2 3 | InvalidInput | The size of tensor a (2) must match the size of tensor b (3)
      sum-and-product.pt | FLOAT32 2 1 2 | InvalidInput | missing value for argument 'right'
      doubled.pt | FLOAT32 2 1 2; FLOAT32 2 1 2 | InvalidInput | Expected at most 2 argument(s)
      fails.pt | FLOAT32 2 1 2; INT64 1 9 | InvalidInput | index out of range in self
      fails.pt | FLOAT32 2 1 2; INT64 1 4 | InvalidInput | ValueError: found 4, expected
      fails.pt | FLOAT32 2 1 2; INT64 1 1 | Engine | aten::q_scale
      fails.pt | FLOAT32 2 1 2; INT64 1 2 | Engine | Cannot initialize CUDA
      fails.pt | FLOAT32 2 1 2; INT64 1 3 | Engine | all tensors to be on the same device
      fixed-shape.pt | INT64 1x2 1 2; INT64 1x2 1 1; INT64 1x2 0 0 | InvalidInput | expected the shape [2, 32]
      throws.pt | INT64 1x1 13; INT64 1x1 1; INT64 1x1 0 | InvalidInput | boom
      runs-out-of-memory.pt | INT64 1x1 13; INT64 1x1 1; INT64 1x1 0 | InsufficientMemory | memory
      unfit.pt | FLOAT32 1 0 | Engine | the model returned a text, expected
      unfit.pt | FLOAT32 1 1 | Engine | the model returned float, expected
      unfit.pt | FLOAT32 1 2 | Engine | the model returned (Tensor, NoneType), expected
      unfit.pt | FLOAT32 1 3 | Engine | the model returned a sparse tensor, expected
      unfit.pt | FLOAT32 1 4 | Engine | the model returned complex64, expected
      unfit.pt | FLOAT32 1 5 | Engine | the model returned complex128, expected
      unfit.pt | FLOAT32 1 6 | Engine | the model returned complex32, expected
      unfit.pt | FLOAT32 1 7 | Engine | the model returned qint8, expected
      unfit.pt | FLOAT32 1 8 | Engine | the model returned uint64 beyond the range of int64, expected
      """)
    void whatAForwardFailsOfIsToldApartInOneLine(String file, String inputs, String type, String message) {
        try (var model = load(file)) {
            for (int i = 0; i < 2; i++) {
                assertThatThrownBy(() -> model.forward(Tensors.of(inputs)))
                        .satisfies(e -> assertThat(e.getClass().getSimpleName()).isEqualTo(type + "Exception"))
                        .message()
                        .contains(message)
                        .hasSizeLessThan(600)
                        .doesNotContain("\n", "Traceback");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"runs-out-of-memory.pt", "throws.pt"})
    void theForwardAfterAFailureSucceeds(String file) {
        try (var model = load(file)) {
            assertThatThrownBy(() -> model.forward(inputs(POISON))).isInstanceOf(RuntimeException.class);
            assertThat(model.forward(inputs(2)).getFirst().floats()).containsExactly(2);
        }
    }

    /// What is wrong with a file, by the entries that it has where it is a ZIP of its own.
    @ParameterizedTest
    @Tag("RUN-14")
    @Tag("MME-03")
    @CsvSource(delimiter = '|', textBlock = """
      does-not-fit.pt | | there is no memory left for does-not-fit.pt on cpu:
      needs-neuron-class.pt | | it is compiled for Neuron; serve it on that instance type, with libtorchneuron.so
      net.pt2 | net/archive_format | found what torch.export.save writes; save torch.jit.trace(model, example)
      model.pt | net/archive_format | found what torch.export.save writes; save torch.jit.trace(model, example)
      model.pt | model/data.pkl | found what torch.save writes, such as a state_dict; load it into the model in Python and save torch.jit
      broken.pt | nothing | broken.pt can't be loaded as TorchScript
      missing.pt | | missing.pt can't be loaded as TorchScript
      """)
    void aFileThatCantBeLoadedIsNamed(String name, String entry, String message, @TempDir Path directory)
            throws IOException {
        var file = entry == null ? FILES.resolve(name) : directory.resolve(name);
        if (entry != null) {
            try (var out = new ZipOutputStream(Files.newOutputStream(file))) {
                out.putNextEntry(new ZipEntry(entry));
            }
            assertThat(Engine.isModel(file)).isTrue();
        }
        assertThatThrownBy(() -> Graph.load(file, CPU))
                .isInstanceOfAny(EngineException.class, InsufficientMemoryException.class)
                .message()
                .contains(message)
                .hasSizeLessThan(600)
                .doesNotContain("\n");
    }

    /// An input left behind is some 400 bytes, so 500 forwards of 1,000 too many would keep 200 MB.
    @Test
    @Tag("slow")
    @EnabledOnOs(OS.LINUX)
    void aForwardThatFailsLeavesNoInputsBehind() {
        try (var model = load("echo.pt")) {
            var tooMany = Collections.nCopies(1_000, inputs(1).getFirst());
            refuse(model, tooMany, 100);
            long before = Malloc.used();
            refuse(model, tooMany, 500);
            assertThat(Malloc.used() - before).isLessThan(50_000_000);
        }
    }

    private static void refuse(Graph model, List<Tensor> inputs, int times) {
        for (int i = 0; i < times; i++) {
            assertThatThrownBy(() -> model.forward(inputs)).isInstanceOf(InvalidInputException.class);
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
            for (var forward :
                    List.<ThrowingCallable>of(() -> added(model, (float) POISON, one), () -> added(forgets, 1, one))) {
                assertThatThrownBy(forward)
                        .isExactlyInstanceOf(EngineException.class)
                        .hasMessage(
                                "the model returned a list of 0 tensors at the end, expected 1, as many as it was given");
            }
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
            assertRefused(model, "kept[1]: found a closed tensor, expected an open one", open, closed);
            assertRefused(model, "kept[1]: found the same tensor twice, expected another one", open, open);
            assertRefused(
                    model, "kept[0]: found null, expected a tensor that Graph.keep has returned", (KeptTensor) null);
            assertThat(added(model, 1, open)).containsExactly(1, 1);

            var orphan = other.keep(Tensor.of(new float[2], 2));
            other.close();
            assertRefused(model, "kept[0]: found a closed tensor, expected an open one", orphan);
            orphan.close();
        }
    }

    private static void assertRefused(Graph model, String message, KeptTensor... kept) {
        assertThatThrownBy(() -> added(model, 1, kept))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(message);
    }

    private static float[] added(Graph model, float value, KeptTensor... kept) {
        return model.forward(List.of(Tensor.of(new float[] {value, value}, 2)), Arrays.asList(kept), 1)
                .getFirst()
                .floats();
    }

    @Test
    void inputsHaveNames() {
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
    void aLibraryThatIsNoneIsNamed(@TempDir Path directory) throws Exception {
        var library = Files.writeString(directory.resolve("libops.so"), "no library");
        assertThatThrownBy(() -> new Torch().loadLibraries(Target.CPU, List.of(library)))
                .isInstanceOf(EngineException.class)
                .hasMessageContaining(library + " can't be loaded beside libtorch");
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
