package dev.berth.authoring;

import dev.berth.artifact.ArtifactFile;
import dev.berth.artifact.code.HookCode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/// A model artifact to begin with: hooks with comments, a model where one is small enough, a
/// request to try, and a test. The model of QA is that of the sample artifact.
public enum Template {
    QA("sample.json"),
    IMAGE("model.pt", "sample.png", "sample-response.json"),
    TENSOR("model.pt", "sample.json", "sample-response.json"),
    TEXT("words.csv", "sample.json", "sample-response.json"),
    PICTURE("sample.json"),
    STREAMING("next.csv", "sample.json", "sample-response.json"),
    RECOMMENDER("films.csv", "sample.json", "sample-response.json");

    /// What every template has.
    private static final List<String> COMMON = List.of("README.md", "code/Inference.java", "test/InferenceTest.java");

    /// The sample's files that are too large to be in the jar.
    private static final List<String> OF_THE_SAMPLE =
            List.of("model.json", "model.pt", "tokenizer.json", "sample-response.json");

    private final List<String> files;

    Template(String... files) {
        this.files = List.of(files);
    }

    /// What was written.
    ///
    /// @param added the files that are new, by their paths in the artifact
    /// @param missing the files that were not to be had and still have to be put there
    public record Written(List<String> added, List<String> missing) {}

    /// Writes the artifact, or into one that is there. Of what is there nothing is changed: an
    /// artifact gets no model and no samples, which would not fit its own, and one with hooks in `code/`
    /// gets no others.
    ///
    /// @param directory made where it is not there
    /// @param sample the sample artifact
    /// @throws FileAlreadyExistsException when `directory` is a file
    public Written write(Path directory, Path sample) throws IOException {
        Files.createDirectories(directory);
        boolean isNew;
        try (var there = Files.list(directory)) {
            isNew = there.allMatch(file -> ArtifactFile.isHidden(file.getFileName()));
        }
        var added = new ArrayList<String>();
        add("pom.xml", directory, "pom.xml", added);
        // An inference.py is none.
        if (HookCode.find(directory, Optional.empty(), Optional.empty()).isEmpty()) {
            for (var file : COMMON) {
                add(this + "/" + file, directory, file, added);
            }
        }
        if (!isNew) {
            return new Written(List.copyOf(added), List.of());
        }
        for (var file : files) {
            add(this + "/" + file, directory, file, added);
        }
        var missing = new ArrayList<String>();
        if (this == QA) {
            for (var file : OF_THE_SAMPLE) {
                if (Files.exists(sample.resolve(file))) {
                    Files.copy(sample.resolve(file), directory.resolve(file));
                    added.add(file);
                } else {
                    missing.add(file);
                }
            }
        }
        return new Written(List.copyOf(added), List.copyOf(missing));
    }

    private static void add(String resource, Path directory, String name, List<String> added) throws IOException {
        var file = directory.resolve(name);
        if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
            return;
        }
        Files.createDirectories(file.getParent());
        try (InputStream in = Template.class.getResourceAsStream("templates/" + resource)) {
            Files.copy(in, file);
            added.add(name);
        }
    }

    /// The name by which people choose it.
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
