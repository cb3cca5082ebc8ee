package dev.berth.command;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/// A model artifact to begin with: hooks with comments, a model where one is small enough, a request to try, and a test.
public enum Template {
  /// Question answering with one hook changed. Its model is that of the sample artifact.
  QA("sample.json"),
  /// A TorchScript that is given an image.
  IMAGE("model.pt", "sample.png", "sample-response.json"),
  /// A TorchScript that is given numbers.
  TENSOR("model.pt", "sample.json", "sample-response.json"),
  /// No TorchScript at all.
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

  /// Writes the artifact.
  ///
  /// @param directory made where it is not there; it must be empty
  /// @param sample the sample artifact
  /// @return the files that were not to be had and still have to be put there
  /// @throws FileAlreadyExistsException when there is something in `directory`, or it is a file
  public List<String> write(Path directory, Path sample) throws IOException {
    Files.createDirectories(directory);
    try (var there = Files.list(directory)) {
      if (there.findAny().isPresent()) {
        throw new FileAlreadyExistsException(directory.toString());
      }
    }
    copy("pom.xml", directory.resolve("pom.xml"));
    for (var file : Stream.concat(COMMON.stream(), files.stream()).toList()) {
      copy(this + "/" + file, directory.resolve(file));
    }
    var missing = new ArrayList<String>();
    if (this == QA) {
      for (var file : OF_THE_SAMPLE) {
        if (Files.exists(sample.resolve(file))) {
          Files.copy(sample.resolve(file), directory.resolve(file));
        } else {
          missing.add(file);
        }
      }
    }
    return missing;
  }

  private static void copy(String resource, Path file) throws IOException {
    Files.createDirectories(file.getParent());
    try (InputStream in = Template.class.getResourceAsStream("templates/" + resource)) {
      Files.copy(in, file);
    }
  }

  /// The name by which people choose it.
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
