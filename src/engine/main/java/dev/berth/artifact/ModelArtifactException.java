package dev.berth.artifact;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/// A model artifact that can't be served: everything that is wrong with it, one line each.
public final class ModelArtifactException extends RuntimeException {

    public ModelArtifactException(Path directory, String problem) {
        this(directory, problem, null);
    }

    public ModelArtifactException(Path directory, String problem, Throwable cause) {
        this(directory, List.of(problem), cause);
    }

    public ModelArtifactException(Path directory, List<String> problems) {
        this(directory, problems, null);
    }

    public ModelArtifactException(Path directory, List<String> problems, Throwable cause) {
        super(
                problems.stream()
                        .map(problem -> "model artifact %s: %s".formatted(directory, problem))
                        .collect(Collectors.joining("\n")),
                cause);
    }
}
