package dev.berth.engine.onnx;

import ai.onnxruntime.OrtEnvironment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// The native libraries of the jar, in a directory of their own from [#unpack] until they are
/// loaded.
///
/// ONNX Runtime would unpack them itself, and leave 24 MB in the directory for temporary files
/// whenever the process ends by a halt or a signal.
final class OnnxLibraries implements AutoCloseable {

    /// Where ONNX Runtime looks first.
    private static final String PROPERTY = "onnxruntime.native.path";

    private final List<Path> unpacked = new ArrayList<>();

    private OnnxLibraries() {}

    /// Whether somebody has named a directory with a build for CUDA.
    static boolean haveCuda() {
        var directory = System.getProperty(PROPERTY);
        return directory != null
                && Files.exists(Path.of(directory, System.mapLibraryName("onnxruntime_providers_cuda")));
    }

    /// Does nothing where somebody has named another directory, or where the jar has no libraries for
    /// this machine, as in the image. There they are on the library path.
    static OnnxLibraries unpack() throws IOException {
        var libraries = new OnnxLibraries();
        var platform = "native/%s-%s/"
                .formatted(
                        System.getProperty("os.name").startsWith("Mac") ? "osx" : "linux",
                        System.getProperty("os.arch").equals("amd64") ? "x64" : "aarch64");
        if (System.getProperty(PROPERTY) != null || OrtEnvironment.class.getResource(platform) == null) {
            return libraries;
        }
        try {
            var directory = Files.createTempDirectory("berth-onnxruntime");
            libraries.unpacked.add(directory);
            for (var name : List.of("onnxruntime", "onnxruntime4j_jni")) {
                var file = System.mapLibraryName(name);
                try (var library = OrtEnvironment.class.getResourceAsStream(platform + file)) {
                    var copy = directory.resolve(file);
                    libraries.unpacked.addFirst(copy);
                    Files.copy(library, copy);
                }
            }
            System.setProperty(PROPERTY, directory.toString());
            return libraries;
        } catch (IOException e) {
            libraries.close();
            throw e;
        }
    }

    /// What is loaded needs no file any more.
    @Override
    public void close() throws IOException {
        ofRuntime().ifPresent(unpacked::add);
        for (var path : unpacked) {
            Files.deleteIfExists(path);
        }
    }

    /// The directory that ONNX Runtime makes whenever it is loaded. It has nothing in it, and stays
    /// where the process ends by a halt, as a server does at SIGTERM.
    private static Optional<Path> ofRuntime() {
        try {
            var directory = Class.forName("ai.onnxruntime.OnnxRuntime").getDeclaredField("tempDirectory");
            directory.setAccessible(true);
            return Optional.ofNullable((Path) directory.get(null));
        } catch (ReflectiveOperationException _) {
            return Optional.empty();
        }
    }
}
