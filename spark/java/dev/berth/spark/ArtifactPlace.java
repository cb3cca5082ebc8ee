package dev.berth.spark;

import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.SparkFiles;

/// Finds the directory of an artifact on this executor.
final class ArtifactPlace {

    private ArtifactPlace() {}

    /// Copies it from S3 into the executor's own directory, which Spark deletes.
    ///
    /// @throws IllegalArgumentException where there is none
    static Path local(String artifact) {
        // Hadoop's name for the same.
        var text = artifact.replaceFirst("^s3[an]://", "s3://");
        try (var storage = new Storage()) {
            var location = storage.at(text);
            return location.file().map(ArtifactPlace::onDisk).orElseGet(() -> download(storage, location));
        }
    }

    private static Path onDisk(Path path) {
        if (Files.isDirectory(path)) {
            return path;
        }
        // What spark-submit --archives has unpacked.
        var sent = Path.of(SparkFiles.getRootDirectory()).resolve(path);
        if (Files.isDirectory(sent)) {
            return sent;
        }
        throw new IllegalArgumentException(
                "model artifact %s: found no such directory on this executor, ".formatted(path)
                        + "expected s3://bucket/prefix, a path that every executor has, or the name of an"
                        + " archive");
    }

    private static Path download(Storage storage, Location prefix) {
        try {
            var directory = Files.createTempDirectory(
                    Path.of(SparkFiles.getRootDirectory()).toAbsolutePath(), "berth-model-");
            var below = prefix.toString().endsWith("/") ? prefix : storage.at(prefix + "/");
            try (var objects = below.list()) {
                var files =
                        objects.filter(object -> !object.key().endsWith("/")).toList();
                if (files.isEmpty()) {
                    throw new IllegalArgumentException(
                            "model artifact %s: found no objects below it".formatted(prefix));
                }
                for (var file : files) {
                    // Refuses keys that would lead out of the directory.
                    var to = storage.at(directory).resolve(file.key()).file().orElseThrow();
                    Files.createDirectories(to.getParent());
                    try (var bytes = file.location().open()) {
                        Files.copy(bytes, to);
                    }
                }
            }
            return directory;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
