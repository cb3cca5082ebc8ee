package dev.berth.engine.onnx;

import static dev.berth.testing.OnnxModel.attribute;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.SPARSE;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.WireFormat;
import dev.berth.engine.EngineException;
import dev.berth.engine.Graph;
import dev.berth.engine.GraphNames;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.hooks.Tensor;
import dev.berth.memory.Footprint;
import dev.berth.testing.OnnxModel;
import dev.berth.testing.OnnxModel.Message;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Files that can't be loaded, or must not be. Each is refused in one line that says what to do.
class HostileOnnxTest {

    private static final Accelerator CPU = new Accelerator.Cpu(1, CpuProfile.ADAPTIVE);

    private static final String TOO_DEEP =
            "its branches, loops or functions are too deep in each other to be loaded; export it with fewer levels";

    @TempDir
    private Path parent;

    private Path directory;
    private Path file;

    @BeforeEach
    void makeDirectory() throws IOException {
        directory = Files.createDirectory(parent.resolve("artifact"));
        file = directory.resolve("model.onnx");
    }

    @Test
    void whatIsNoOnnxIsToldSo() throws IOException {
        var whole = OnnxModel.linear().toBytes();
        for (var bytes :
                List.of(new byte[0], "a text, and no model".getBytes(), Arrays.copyOf(whole, whole.length / 2))) {
            Files.write(file, bytes);
            assertRefused("found no ONNX model, or only the beginning of one; copy or export it again");
        }
        Files.delete(file);
        assertRefused("not found");
    }

    static Stream<Arguments> whatOnnxRuntimeDoesNotRun() {
        var unknown = "; name the library that has it with --extra-libraries";
        return Stream.of(
                arguments(OnnxModel.linear().opset("", 99), "; export it with an older opset_version"),
                arguments(
                        OnnxModel.linear().opset("", 6),
                        "Add(6) node with name 'twice'; export it with a newer opset_version, or with weights in float32"),
                arguments(OnnxModel.of("in x FLOAT 1; NoSuchOperator x -> y; out y FLOAT 1"), unknown),
                arguments(
                        OnnxModel.of("in x FLOAT 1; my.company:Mine x -> y; out y FLOAT 1")
                                .opset("my.company", 1),
                        unknown),
                arguments(OnnxModel.of("in x FLOAT 1; com.microsoft:Nope x -> y; out y FLOAT 1"), unknown),
                arguments(
                        OnnxModel.of("in x FLOAT n; Optional x -> y").outputOfOptional("y", OnnxModel.FLOAT),
                        "an input or output is of an optional type, expected a tensor of numbers or texts; export it without"),
                arguments(OnnxModel.of("in x FLOAT 1; Add x b -> a; Add x a -> b; out b FLOAT 1"), "acyclic"),
                arguments(
                        OnnxModel.of(
                                "in x STRING n; StringNormalizer x -> y case_change_action=LOWER locale=xx_XX; out y STRING n"),
                        "its locale xx_XX is not here; export it with the locale C.UTF-8"));
    }

    @ParameterizedTest
    @MethodSource("whatOnnxRuntimeDoesNotRun")
    void itSaysWhatToDo(OnnxModel model, String message) throws IOException {
        model.write(file);
        assertRefused(message);
    }

    @Test
    void weightsInAFileBesideTheModelAreRead() throws IOException {
        withWeightsIn("deeper/w.bin");
        Files.createDirectory(directory.resolve("deeper"));
        Files.write(directory.resolve("deeper/w.bin"), new byte[8]);
        try (var model = Graph.load(file, CPU)) {
            assertThat(model.forward(List.of(Tensor.of(new float[] {1, 2}, 1, 2)))
                            .getFirst()
                            .floats())
                    .containsExactly(0);
        }
        assertThat(new Onnx().footprint(directory)).isEqualTo(Footprint.NONE);
        assertThat(new Onnx().footprint(file).kept())
                .isGreaterThan(new Onnx().footprint(file).whileLoading());
        Files.write(directory.resolve("deeper/w.bin"), new byte[7]);
        assertRefused("w");
        Files.delete(directory.resolve("deeper/w.bin"));
        assertRefused("its weights are in deeper/w.bin: not found");
    }

    @Test
    void weightsThatNoNodeTakesAreLeftAlone() throws IOException {
        OnnxModel.linear().weightsIn("w.bin", "unused", 8, 2).write(file);
        Files.write(directory.resolve("w.bin"), new byte[8]);
        Graph.load(file, CPU).close();
    }

    /// A sparse file may be of any size.
    @Test
    void aNameLongerThanAnyNameIsNotRead() throws IOException {
        try (var content = FileChannel.open(file, CREATE_NEW, WRITE, SPARSE)) {
            // A graph of 1.9 GB, in it a node, in it an operator's name.
            for (int size : new int[] {1_900_000_012, 1_900_000_006}) {
                content.write(ByteBuffer.wrap(header(size == 1_900_000_012 ? 7 : 1, size)));
            }
            content.write(ByteBuffer.wrap(header(4, 1_900_000_000)));
            content.write(ByteBuffer.allocate(1), content.position() + 1_900_000_000 - 1);
        }
        assertRefused("found a name of 1900000000 bytes, expected at most 65536");
        assertThat(new Onnx().names(file)).isEqualTo(GraphNames.UNKNOWN);
    }

    /// As a text it would take several times its bytes.
    @Test
    void aNameThatWouldFillTheHeapIsNotRead() throws IOException {
        var some = "\u20ac".repeat(1 << 16).getBytes(StandardCharsets.UTF_8);
        int parts = (int) ((Runtime.getRuntime().maxMemory() / 4 - (1 << 20)) / some.length);
        int size = parts * some.length;
        int header = header(4, size).length;
        try (var content = Files.newOutputStream(file)) {
            content.write(header(7, size + 2 * header));
            content.write(header(1, size + header));
            content.write(header(4, size));
            for (int i = 0; i < parts; i++) {
                content.write(some);
            }
        }
        assertRefused("found a name of %d bytes, expected at most 65536".formatted(size));
    }

    private static byte[] header(int field, int size) throws IOException {
        var bytes = new byte[6];
        var out = CodedOutputStream.newInstance(bytes);
        out.writeTag(field, WireFormat.WIRETYPE_LENGTH_DELIMITED);
        out.writeUInt32NoTag(size);
        return Arrays.copyOf(bytes, out.getTotalBytesWritten());
    }

    /// ONNX Runtime would load them for minutes, or for ever.
    @Test
    void branchesThatAreTooDeepInEachOtherAreRefused() throws IOException {
        var branch = branch(new OnnxModel().node("Identity", List.of("x"), List.of("y0")), 0);
        for (int depth = 1; depth < 24; depth++) {
            branch = branch(
                    new OnnxModel().node("If", List.of("c"), List.of("y" + depth), attribute("then_branch", branch)),
                    depth);
        }
        OnnxModel.of("in x FLOAT n; in c BOOL; out y FLOAT n")
                .node("If", List.of("c"), List.of("y"), attribute("then_branch", branch))
                .write(file);
        assertRefused(TOO_DEEP);
    }

    private static Message branch(OnnxModel model, int depth) {
        return model.with("out y%d FLOAT ?".formatted(depth)).graph().text(2, "b" + depth);
    }

    @ParameterizedTest
    @CsvSource({"28, 28", "2, 0"})
    void functionsThatCallEachOtherTooOftenAreRefused(int functions, int last) throws IOException {
        var model = OnnxModel.of("in x FLOAT n; loc:F0 x -> y; out y FLOAT n").opset("loc", 1);
        for (int i = 0; i < functions; i++) {
            int next = i + 1 < functions ? i + 1 : last;
            var nodes = new OnnxModel()
                    .node(next == functions ? "" : "loc", "F" + next, List.of("a"), List.of("t"))
                    .node(next == functions ? "" : "loc", "F" + next, List.of("t"), List.of("b"));
            model.function("loc", "F" + i, "a", "b", nodes);
        }
        model.write(file);
        assertRefused(TOO_DEEP);
    }

    /// Neither the branches nor the calls alone are.
    @Test
    void functionsThatCallEachOtherInBranchesAreRefused() throws IOException {
        var model = OnnxModel.of("in a FLOAT n; loc:F0 a -> y; out y FLOAT n").opset("loc", 1);
        for (int i = 0; i < 28; i++) {
            var nodes = new OnnxModel().node("loc", "F" + (i + 1), List.of("a"), List.of("b"));
            for (int depth = 0; depth < 28; depth++) {
                nodes = new OnnxModel()
                        .node("If", List.of("a"), List.of("b"), attribute("then_branch", branch(nodes, depth)));
            }
            model.function("loc", "F" + i, "a", "b", nodes);
        }
        model.write(file);
        assertRefused(TOO_DEEP);
    }

    /// Exporters and `cp` write to the file that is there.
    @ParameterizedTest
    @ValueSource(strings = {"w.bin", "deeper/w.bin"})
    void whatIsWrittenToWeightsThatAreLoadedChangesNoAnswer(String location) throws IOException {
        var weights = directory.resolve(location);
        Files.createDirectories(weights.getParent());
        // More than a page, so that it is not read but mapped.
        var model =
                OnnxModel.of("in x INT64 n; Gather w x -> y; out y FLOAT n").weightsIn(location, "w", 4 << 20, 1 << 20);
        var last = List.of(Tensor.of(new long[] {(1 << 20) - 1}, 1));
        Files.write(weights, new byte[4 << 20]);
        model.write(file);
        try (var old = Graph.load(file, CPU)) {
            assertThat(Files.readAllLines(Path.of("/proc/self/maps")))
                    .noneMatch(line -> line.contains(directory.toString()));
            try (var channel = FileChannel.open(weights, WRITE)) {
                var ones = new byte[4 << 20];
                Arrays.fill(ones, (byte) 0x3f);
                channel.write(ByteBuffer.wrap(ones));
                assertThat(old.forward(last).getFirst().floats()).containsExactly(0);
                try (var next = Graph.load(file, CPU)) {
                    channel.truncate(0);
                    assertThat(next.forward(last).getFirst().floats()).containsExactly(0.7470588f);
                }
            }
            assertThat(old.forward(last).getFirst().floats()).containsExactly(0);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"../secret.bin", "deeper/../../secret.bin", "/etc/passwd", "", ".", "*/_ORT_MEM_ADDR_/*"})
    void weightsOutsideOfTheDirectoryAreRefused(String location) throws IOException {
        Files.write(parent.resolve("secret.bin"), new byte[8]);
        Files.write(
                Files.createDirectories(directory.resolve("*/_ORT_MEM_ADDR_")).resolve("*"), new byte[8]);
        withWeightsIn(location);
        assertRefused("its weights are in " + location);
    }

    @Test
    void weightsBehindALinkThatLeavesAreRefused() throws IOException {
        Files.write(parent.resolve("secret.bin"), new byte[8]);
        Files.createSymbolicLink(directory.resolve("w.bin"), Path.of("../secret.bin"));
        Files.createSymbolicLink(directory.resolve("up"), Path.of(".."));
        for (var location : List.of("w.bin", "up/secret.bin")) {
            withWeightsIn(location);
            assertRefused("its weights are in %s, a link to a file elsewhere; copy that file in its place"
                    .formatted(location));
        }
    }

    /// Wherever a tensor may stand.
    @Test
    void weightsOfInnerGraphsAndAttributesAreLookedAtToo() throws IOException {
        var outside = OnnxModel.tensor("w", OnnxModel.FLOAT, 2)
                .number(14, 1)
                .message(13, new Message().text(1, "location").text(2, "../secret.bin"));
        var branch = new OnnxModel()
                .initializer(outside)
                .output("w", OnnxModel.FLOAT, 2)
                .graph();
        for (var attribute : List.of(
                attribute("then_branch", branch),
                new Message().text(1, "value").message(5, outside).number(20, 4),
                new Message().text(1, "values").message(10, outside).number(20, 9),
                new Message().text(1, "branches").message(11, branch).number(20, 10),
                new Message()
                        .text(1, "sparse_value")
                        .message(22, new Message().message(1, outside))
                        .number(20, 11))) {
            OnnxModel.of("in x BOOL; out y FLOAT 2")
                    .node("If", List.of("x"), List.of("y"), attribute)
                    .write(file);
            assertRefused("its weights are in ../secret.bin");
        }
        OnnxModel.of("in x FLOAT 2; out x FLOAT 2")
                .sparse(new Message().message(1, outside))
                .write(file);
        assertRefused("its weights are in ../secret.bin");
    }

    @Test
    void weightsOfALengthThatTheyDoNotHaveAreRefused() throws IOException {
        for (var shape : new long[][] {{1L << 40}, {1L << 62, 1L << 62}, {-1}, {1 << 30, 1 << 30}}) {
            OnnxModel.of("in x FLOAT 1; Add x w -> y; out y FLOAT n")
                    .initializer(OnnxModel.tensor("w", OnnxModel.FLOAT, shape).bytes(9, new byte[4]))
                    .write(file);
            assertRefused("");
        }
    }

    @Test
    void branchesInBranchesWithoutEndAreRefused() throws IOException {
        var inner = new OnnxModel().output("y", OnnxModel.FLOAT, 1);
        for (int i = 0; i < 300; i++) {
            inner = new OnnxModel()
                    .node("If", List.of("x"), List.of("y"), attribute("then_branch", inner.graph()))
                    .output("y", OnnxModel.FLOAT, 1);
        }
        inner.write(file);
        assertRefused("found no ONNX model");
    }

    /// In a process of its own, which would not outlive it.
    @Test
    void damagedFilesDoNotEndTheProcess() throws Exception {
        var java = Path.of(System.getProperty("java.home"), "bin/java").toString();
        var process = new ProcessBuilder(
                        java,
                        "-XX:TieredStopAtLevel=1",
                        "-Xmx256m",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        DamagedOnnx.class.getName(),
                        directory.toString(),
                        "600")
                .redirectErrorStream(true)
                .start();
        try (var output = process.inputReader()) {
            var lines = output.lines().toList();
            assertThat(process.waitFor()).as("%s", lines).isZero();
            assertThat(lines).last().asString().startsWith("600 damaged files, ");
        }
    }

    private void withWeightsIn(String location) throws IOException {
        OnnxModel.of("in x FLOAT n 2; MatMul x w -> y; out y FLOAT n 1")
                .weightsIn(location, "w", 8, 2, 1)
                .write(file);
    }

    private void assertRefused(String... parts) {
        assertThatThrownBy(() -> Graph.load(file, CPU).close())
                .isExactlyInstanceOf(EngineException.class)
                .message()
                .startsWith(file + " can't be loaded as ONNX: ")
                .contains(parts)
                .doesNotContain("\n", "/onnxruntime/")
                .hasSizeLessThan(700);
    }
}
