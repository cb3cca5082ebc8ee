package dev.berth.artifact;

import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/// A traced model that takes pictures.
///
/// @param dynamic whether the only file takes any number of pictures
/// @param files one for each number of pictures, the smallest first
/// @param preparation what becomes of a picture before the model gets it
public record ImageArtifact(
    Header header, boolean dynamic, List<File> files, ImagePreparation preparation)
    implements TracedArtifact {

  /// @param batch the pictures that it takes at once; those of a dynamic one have no limit
  public record File(Path path, int batch) {}

  public ImageArtifact {
    files = files.stream().sorted(Comparator.comparingInt(File::batch)).toList();
  }

  /// Reads and checks the artifact in `directory`.
  ///
  /// @throws ModelArtifactException with everything that is wrong
  public static ImageArtifact open(Path directory) {
    return new ImageArtifactReader(directory).read();
  }

  @Override
  public List<Path> modelFiles() {
    return files.stream().map(File::path).toList();
  }

  @Override
  public OptionalInt largestBatch() {
    return dynamic ? OptionalInt.empty() : OptionalInt.of(files.getLast().batch);
  }

  @Override
  public String shownShapes() {
    var size = preparation.size();
    return dynamic
        ? "any batch of pictures of %d x %d pixels".formatted(size.width(), size.height())
        : files.stream()
            .map(file -> "[%d, 3, %d, %d]".formatted(file.batch, size.height(), size.width()))
            .collect(Collectors.joining(", "));
  }
}
