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
        var location = Location.of(artifact.replaceFirst("^s3[an]://", "s3://"));
        return location.file().map(ArtifactPlace::onDisk).orElseGet(() -> download(location));
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

    private static Path download(Location prefix) {
        try (var storage = new Storage()) {
            var directory = Files.createTempDirectory(
                    Path.of(SparkFiles.getRootDirectory()).toAbsolutePath(), "berth-model-");
            var below = prefix.toString().endsWith("/") ? prefix : Location.of(prefix + "/");
            try (var objects = storage.list(below)) {
                var files =
                        objects.filter(object -> !object.key().endsWith("/")).toList();
                if (files.isEmpty()) {
                    throw new IllegalArgumentException(
                            "model artifact %s: found no objects below it".formatted(prefix));
                }
                for (var file : files) {
                    // Refuses keys that would lead out of the directory.
                    var to = Location.of(directory).resolve(file.key()).file().orElseThrow();
                    Files.createDirectories(to.getParent());
                    try (var bytes = storage.open(file.location())) {
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
