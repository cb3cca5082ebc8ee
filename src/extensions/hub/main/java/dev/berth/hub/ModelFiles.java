package dev.berth.hub;

import dev.berth.artifact.ArtifactFile;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.engine.Engine;
import dev.berth.engine.onnx.CpuFlags;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The files of a model in the form of an engine, which differ in their numbers: `model.onnx`,
/// `model_fp16.onnx`, `model_quantized.onnx`, `model_qint8_avx512_vnni.onnx`.
final class ModelFiles {

    private static final Pattern INT8 = Pattern.compile("quantized|int8");
    private static final Pattern FP16 = Pattern.compile("fp16");

    /// Numbers of 4 bits and less, and what is for GPUs.
    private static final Pattern OTHER = Pattern.compile("q[1-4](f16)?|bnb4|int4|_O4");

    /// The CPUs that int8 files are made for, as their names end and as `/proc/cpuinfo` has it. The
    /// best is the first.
    private static final List<String> CPUS = List.of("avx512_vnni", "avx512", "avx2", "arm64");

    private ModelFiles() {}

    /// The engine that a file of the hub is for.
    static Optional<Engine> engine(Path file) {
        return Engine.ALL.stream()
                .filter(engine -> engine.hubFormat().isPresent() && engine.reads(file))
                .findFirst();
    }

    /// Those in a directory itself and in that of their form, such as `onnx`, by their paths in it.
    static List<Path> in(Path directory) {
        return Engine.ALL.stream()
                .flatMap(engine -> engine.hubFormat().stream())
                .flatMap(form -> Stream.of(directory, directory.resolve(form)).flatMap(each -> listed(each, form)))
                .toList();
    }

    private static Stream<Path> listed(Path directory, String form) {
        if (!Files.isDirectory(directory)) {
            return Stream.of();
        }
        try (var files = Files.list(directory)) {
            return files
                    .filter(file -> file.toString().endsWith("." + form))
                    .filter(file -> !ArtifactFile.isHidden(file.getFileName()))
                    .sorted()
                    .toList()
                    .stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The file that is taken unless another one agrees with it: `model.onnx`, else the only one of
    /// full numbers, else the first in int8 for this CPU.
    ///
    /// @throws ModelArtifactException when there is none, or no rule for several
    static Path main(Path directory) {
        var all = in(directory);
        var full = all.stream()
                .filter(file -> precision(file).filter("fp32"::equals).isPresent())
                .toList();
        return full.stream()
                .filter(file -> file.getFileName().toString().matches("model\\.\\w+"))
                .findFirst()
                .or(() -> full.stream().filter(_ -> full.size() == 1).findFirst())
                .or(() -> full.isEmpty() ? int8(all).stream().findFirst() : Optional.empty())
                .or(() -> all.stream().filter(_ -> all.size() == 1).findFirst())
                .orElseThrow(() -> new ModelArtifactException(
                        directory,
                        all.isEmpty()
                                ? "found no .onnx file in it or in onnx/; make an artifact with trace.py, or export the model to ONNX"
                                : "found %s, and none is model.onnx or made for this CPU; serve pack --file names the one to take"
                                        .formatted(all.stream()
                                                .map(directory::relativize)
                                                .toList())));
    }

    /// Those in int8 for this CPU, the best first.
    static List<Path> int8(List<Path> files) {
        var cpu = cpu();
        return files.stream()
                .filter(file -> precision(file).filter("int8"::equals).isPresent())
                .filter(file -> place(file) == CPUS.size() || cpu.contains(CPUS.get(place(file))))
                .sorted(Comparator.comparingInt(ModelFiles::place))
                .toList();
    }

    /// Which of [#CPUS] a file is made for; behind them where it is for any.
    private static int place(Path file) {
        var name = file.getFileName().toString();
        return (int) CPUS.stream().takeWhile(cpu -> !name.contains(cpu)).count();
    }

    /// As `model.json` calls it; nothing where it is none of those.
    static Optional<String> precision(Path file) {
        var name = file.getFileName().toString();
        if (OTHER.matcher(name).find()) {
            return Optional.empty();
        }
        return Optional.of(
                INT8.matcher(name).find() ? "int8" : FP16.matcher(name).find() ? "fp16" : "fp32");
    }

    private static Set<String> cpu() {
        if (System.getProperty("os.arch").equals("aarch64")) {
            return Set.of("arm64");
        }
        var flags = new HashSet<>(CpuFlags.read());
        if (flags.contains("avx512f")) {
            flags.add("avx512");
        }
        return flags;
    }
}
