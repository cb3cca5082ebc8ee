package dev.berth.artifact;

import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// A model artifact whose `model.json` and files have been checked: what the trace made, and for
/// which device.
///
/// @param directory the directory unpacked from `model.tar.gz`
/// @param task what the model is for, such as `question-answering`; it chooses the built-in handler
/// @param target the device that the model was traced for
/// @param precision `fp32`, `fp16`, `bf16` or `int8`
/// @param torch the version of PyTorch that wrote the files
/// @param inputs the model's inputs by name, in the order of its `forward`
/// @param outputs the model's outputs by name, in their order
/// @param shapes the shapes that the files take
/// @param maxSequenceLength the most tokens that the model takes at once, special tokens included
/// @param pair how a question and a context become one sequence
/// @param labels the names of a classifier's classes, in the order of its output; empty where it is
///   none
/// @param parameters what a request's parameters are for this model where the request leaves them
///   out, by name
/// @param agreement how far its answers are those of the model in fp32, where `trace.py` has
///   compared them
/// @param provenance where the weights come from and under which licence, as free text by key
public record ModelArtifact(
    Path directory,
    String task,
    Target target,
    String precision,
    String torch,
    List<String> inputs,
    List<String> outputs,
    Shapes shapes,
    int maxSequenceLength,
    PairTemplate pair,
    List<String> labels,
    Map<String, Object> parameters,
    Optional<Agreement> agreement,
    Map<String, Object> provenance)
    implements TracedArtifact {

  public ModelArtifact {
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
    labels = List.copyOf(labels);
    // Not Map.copyOf: what is not known is null.
    parameters = Collections.unmodifiableMap(new LinkedHashMap<>(parameters));
    provenance = Collections.unmodifiableMap(new LinkedHashMap<>(provenance));
  }

  /// Reads and checks the artifact in `directory`.
  ///
  /// @throws ModelArtifactException with everything that is wrong
  public static ModelArtifact open(Path directory) {
    return new ModelArtifactReader(directory).read();
  }

  /// The most tokens of a row that there is a shape for.
  public int longestRow() {
    return switch (shapes) {
      case Shapes.Dynamic _ -> maxSequenceLength;
      case Shapes.Compiled(var compiled) -> compiled.getLast().sequence();
    };
  }

  public Path tokenizer() {
    return directory.resolve("tokenizer.json");
  }

  /// A request that the model can answer, as JSON; with [#sampleResponse()] the artifact's own
  /// test. Either may be missing.
  public Path sample() {
    return directory.resolve("sample.json");
  }

  /// What the model answered to [#sample()] when it was traced.
  public Path sampleResponse() {
    return directory.resolve("sample-response.json");
  }
}
