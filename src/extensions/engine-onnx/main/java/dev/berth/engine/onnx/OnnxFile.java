package dev.berth.engine.onnx;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.berth.artifact.ArtifactFile;
import dev.berth.engine.EngineException;
import dev.berth.engine.GraphNames;
import dev.berth.engine.onnx.OnnxMessage.TooMuchException;
import dev.berth.memory.Footprint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// An ONNX file that may be loaded, and the files that hold its weights.
///
/// @param bytes how large they are together
/// @param stamps what changes with these files
record OnnxFile(OnnxModelProto model, long bytes, List<String> stamps) {

    /// Weights of more than this are not copied for the sake of speed.
    private static final long BYTES_OF_SINGLE_THREADED = 256L << 20;

    /// A location that stands for an address in memory, which ONNX Runtime would read.
    private static final String ADDRESS = "_ORT_MEM_ADDR_";

    /// What can be read; nothing where the file is no ONNX.
    static GraphNames names(Path file) {
        try {
            return OnnxModelProto.read(file).names();
        } catch (IOException _) {
            return GraphNames.UNKNOWN;
        }
    }

    /// What a model takes in memory. A session of ONNX Runtime 1.28 on x86-64 takes 30 MB for a BERT
    /// of 24 MB in int8, and 91 for one of 93 MB in fp32.
    static Footprint footprint(Path file) {
        try {
            long size = measured(file, "", OnnxModelProto.read(file)).bytes;
            int cores = Runtime.getRuntime().availableProcessors();
            return new Footprint(13 * size / 10 * (singleThreaded(size, cores) + 1), size);
        } catch (IOException | InvalidPathException _) {
            // Loading it says what is wrong.
            return Footprint.NONE;
        }
    }

    /// How many sessions of one thread there are: one for each core, fewer where each has a copy of
    /// many weights. Two forwards in one session may scatter each other's tensors over its memory.
    /// Then they take up to a third longer, for seconds or minutes.
    static int singleThreaded(long bytes, int cores) {
        return Math.clamp(BYTES_OF_SINGLE_THREADED / Math.max(1, bytes), 1, cores);
    }

    private static OnnxFile measured(Path file, String stamp, OnnxModelProto model) throws IOException {
        long bytes = Files.size(file);
        var stamps = new ArrayList<>(List.of(stamp));
        for (var each : model.weights()) {
            bytes += Files.size(file.resolveSibling(each));
            stamps.add(stamp(file.resolveSibling(each)));
        }
        return new OnnxFile(model, bytes, stamps);
    }

    private static String stamp(Path file) throws IOException {
        return Files.size(file) + " " + Files.getLastModifiedTime(file);
    }

    /// Whether one of its files has been written to since it was read.
    boolean hasChanged(Path file) throws IOException {
        return !measured(file, stamp(file), model).stamps.equals(stamps);
    }

    /// Checks what ONNX Runtime would not: that the file can be read to its end, and that its weights
    /// are files of the artifact.
    ///
    /// @throws EngineException when it must not be loaded
    static OnnxFile checked(Path file) {
        ArtifactFile.problem(file).ifPresent(problem -> {
            throw refused(file, problem, null);
        });
        try {
            var stamp = stamp(file);
            var model = OnnxModelProto.read(file);
            if (!model.hasOutputs()) {
                throw new InvalidProtocolBufferException("a model returns something");
            }
            for (var weights : model.weights()) {
                checkWeights(file, weights);
            }
            return measured(file, stamp, model);
        } catch (TooMuchException e) {
            throw refused(file, e.getMessage(), e);
        } catch (IOException e) {
            throw refused(file, "found no ONNX model, or only the beginning of one; copy or export it again", e);
        }
    }

    private static void checkWeights(Path file, String weights) throws IOException {
        var directory = real(file).getParent();
        try {
            var path = directory.resolve(weights).normalize();
            if (Path.of(weights).isAbsolute() || weights.contains(ADDRESS) || !path.startsWith(directory)) {
                throw refused(file, "its weights are in %s, expected a file beside it".formatted(weights), null);
            }
            if (!Files.exists(path) && Files.exists(file.resolveSibling(weights))) {
                throw refused(
                        file,
                        "its weights are in %s, and both are links to files of other names; serve pack copies them"
                                .formatted(weights),
                        null);
            }
            ArtifactFile.problem(path).ifPresent(problem -> {
                throw refused(file, "its weights are in %s: %s".formatted(weights, problem), null);
            });
            if (!real(path).startsWith(directory)) {
                throw refused(
                        file,
                        "its weights are in %s, a link to a file elsewhere; copy that file in its place"
                                .formatted(weights),
                        null);
            }
        } catch (InvalidPathException e) {
            throw refused(file, "its weights are in a file without a name", e);
        }
    }

    /// Without links. A file in the root of another container, as of KServe's modelcars, has no such path
    /// here.
    private static Path real(Path file) throws IOException {
        try {
            var real = file.toRealPath();
            return Files.isSameFile(real, file) ? real : file;
        } catch (NoSuchFileException _) {
            return file;
        }
    }

    static EngineException refused(Path file, String reason, Throwable cause) {
        return new EngineException("%s can't be loaded as ONNX: %s".formatted(file, reason), cause);
    }
}
