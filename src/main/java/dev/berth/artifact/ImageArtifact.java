package dev.berth.artifact;

import java.nio.file.Path;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A model artifact that takes pictures, whose `model.json` and files have been checked.
///
/// @param directory the directory unpacked from `model.tar.gz`
/// @param task what the model is for, such as `image-classification`; it chooses the built-in
///   handler
/// @param target the device that the model was traced for
/// @param precision `fp32`, `fp16`, `bf16` or `int8`
/// @param torch the version of PyTorch that wrote the files
/// @param inputs the model's inputs by name, in the order of its `forward`
/// @param outputs the model's outputs by name, in their order
/// @param dynamic whether the only file takes any number of pictures
/// @param files one for each number of pictures, the smallest first
/// @param preparation what becomes of a picture before the model gets it
/// @param labels the names of a classifier's classes, in the order of its output; empty where it is
///   none
/// @param parameters what a request's parameters are for this model where the request leaves them
///   out, by name
/// @param agreement how far its answers are those of the model in fp32, where `trace.py` has
///   compared them
/// @param provenance where the weights come from and under which licence, as free text by key
public record ImageArtifact(
    Path directory,
    String task,
    Target target,
    String precision,
    String torch,
    List<String> inputs,
    List<String> outputs,
    boolean dynamic,
    List<File> files,
    ImagePreparation preparation,
    List<String> labels,
    Map<String, Object> parameters,
    Optional<Agreement> agreement,
    Map<String, Object> provenance)
    implements TracedArtifact {

  /// @param batch the pictures that it takes at once; those of a dynamic one have no limit
  public record File(Path path, int batch) {}

  public ImageArtifact {
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    files = files.stream().sorted(Comparator.comparingInt(File::batch)).toList();
    labels = List.copyOf(labels);
    // Not Map.copyOf: what is not known is null.
    parameters = Collections.unmodifiableMap(new LinkedHashMap<>(parameters));
    provenance = Collections.unmodifiableMap(new LinkedHashMap<>(provenance));
  }

  /// Reads and checks the artifact in `directory`.
  ///
  /// @throws ModelArtifactException with everything that is wrong
  public static ImageArtifact open(Path directory) {
    return new ImageArtifactReader(directory).read();
  }
}
