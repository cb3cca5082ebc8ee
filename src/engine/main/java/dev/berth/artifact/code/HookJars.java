package dev.berth.artifact.code;

import dev.berth.artifact.ModelArtifactException;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.zip.ZipFile;

/// The open jars of one artifact, in the order in which they are searched. May be used by any
/// thread.
final class HookJars implements Closeable {

    /// A file in a jar.
    record Entry(Path jar, String name, JarFile open, JarEntry entry) {
        byte[] read() throws IOException {
            try (var in = open.getInputStream(entry)) {
                return in.readAllBytes();
            }
        }
    }

    private final SequencedMap<Path, JarFile> jars = new LinkedHashMap<>();

    /// @throws ModelArtifactException when one is no jar
    HookJars(Path modelDirectory, List<Path> files) throws IOException {
        for (var file : files) {
            try {
                jars.put(file, new JarFile(file.toFile(), true, ZipFile.OPEN_READ, JarFile.runtimeVersion()));
            } catch (IOException e) {
                close();
                throw new ModelArtifactException(
                        modelDirectory,
                        "%s: it can't be read: %s".formatted(modelDirectory.relativize(file), e.getMessage()),
                        e);
            }
        }
    }

    Optional<Entry> find(String name) {
        return jars.keySet().stream().flatMap(jar -> in(jar, name).stream()).findFirst();
    }

    List<Entry> findAll(String name) {
        return jars.keySet().stream().flatMap(jar -> in(jar, name).stream()).toList();
    }

    /// The file of that name in one jar; in one of several releases that for this Java.
    Optional<Entry> in(Path jar, String name) {
        var open = jars.get(jar);
        return Optional.ofNullable(open.getJarEntry(name)).map(entry -> new Entry(jar, name, open, entry));
    }

    @Override
    public void close() throws IOException {
        for (var jar : jars.values()) {
            jar.close();
        }
    }
}
