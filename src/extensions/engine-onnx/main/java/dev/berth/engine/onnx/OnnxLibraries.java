package dev.berth.engine.onnx;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// The native libraries of ONNX Runtime.
final class OnnxLibraries {

    private OnnxLibraries() {}

    /// Whether somebody has named a directory with a build for CUDA.
    static boolean haveCuda() {
        var directory = System.getProperty("onnxruntime.native.path");
        return directory != null
                && Files.exists(Path.of(directory, System.mapLibraryName("onnxruntime_providers_cuda")));
    }

    /// Deletes what ONNX Runtime has unpacked of its jar, which needs no file once it is loaded.
    /// Otherwise 24 MB stay in the directory for temporary files whenever the process ends by a halt or
    /// a signal.
    static void deleteUnpacked() {
        try {
            var directory = Class.forName("ai.onnxruntime.OnnxRuntime").getDeclaredField("tempDirectory");
            directory.setAccessible(true);
            if (directory.get(null) instanceof Path unpacked && Files.isDirectory(unpacked)) {
                try (var files = Files.newDirectoryStream(unpacked)) {
                    for (var file : files) {
                        Files.delete(file);
                    }
                }
                Files.delete(unpacked);
            }
        } catch (ReflectiveOperationException | IOException | LinkageError _) {
            // It has not begun, has another name in another version, or may not be deleted.
        }
    }
}
