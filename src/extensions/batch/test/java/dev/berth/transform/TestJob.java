package dev.berth.transform;

import dev.berth.storage.Storage;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// A job on the files of a directory, `in`, whose outputs are in `out` beside it.
final class TestJob {

    private final Path directory;
    private final EnumMap<JobOption, String> options;

    /// @param flags as in [JobFlags]
    TestJob(Path directory, String flags, Object... values) {
        this.directory = directory;
        this.options = JobFlags.of("--input %s --output %s", directory.resolve("in"), directory.resolve("out"));
        set(flags, values);
    }

    TestJob set(String flags, Object... values) {
        options.putAll(JobFlags.of(flags, values));
        return this;
    }

    TestJob without(JobOption... dropped) {
        options.keySet().removeAll(List.of(dropped));
        return this;
    }

    /// Writes an object.
    Path write(String key, String text) throws IOException {
        var file = directory.resolve("in").resolve(key);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text);
    }

    /// Writes the only object, `in`, whose output is `out/in.out`.
    void write(String text) throws IOException {
        Files.writeString(directory.resolve("in"), text);
    }

    String output(String key) throws IOException {
        return Files.readString(directory.resolve("out").resolve(key + ".out"));
    }

    List<String> lines(String key) throws IOException {
        return Files.readAllLines(directory.resolve("out").resolve(key + ".out"));
    }

    Map<String, String> outputs() throws IOException {
        return files(Path.of(options.get(JobOption.OUTPUT)));
    }

    /// All files below a directory, those in hidden ones too.
    static Map<String, String> files(Path root) throws IOException {
        var all = new TreeMap<String, String>();
        try (var files = Files.walk(root)) {
            for (var file : files.filter(Files::isRegularFile).toList()) {
                all.put(root.relativize(file).toString(), new String(Files.readAllBytes(file), StandardCharsets.UTF_8));
            }
        }
        return all;
    }

    List<String> problems() {
        return JobFlags.problems(options);
    }

    TransformJob read(JobOption... switches) {
        return read(new Storage(), switches);
    }

    TransformJob read(Storage storage, JobOption... switches) {
        var all = new EnumMap<>(options);
        List.of(switches).forEach(each -> all.put(each, "true"));
        return TransformJob.read(storage, all, Map.of());
    }

    JobReport run(URI container, JobOption... switches) {
        return run(read(switches), container);
    }

    static JobReport run(TransformJob job, URI container) {
        return run(new JobRunner(job, new Unwatched()), container);
    }

    static JobReport run(JobRunner runner, URI container) {
        try {
            return runner.run(container);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
