package dev.berth.artifact;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// What `model.json` says of every model that `trace.py` has made for a task.
public sealed interface TracedArtifact permits ModelArtifact, ImageArtifact {

  /// The directory unpacked from `model.tar.gz`.
  Path directory();

  /// What the model is for, such as `question-answering`; it chooses the built-in handler.
  String task();

  /// The device that the model was traced for.
  Target target();

  /// `fp32`, `fp16`, `bf16` or `int8`.
  String precision();

  /// The version of PyTorch that wrote the files.
  String torch();

  /// The model's inputs by name, in the order of its `forward`.
  List<String> inputs();

  /// The model's outputs by name, in their order.
  List<String> outputs();

  /// The names of a classifier's classes, in the order of its output; empty where it is none.
  List<String> labels();

  /// What a request's parameters are for this model where the request leaves them out, by name.
  Map<String, Object> parameters();

  /// How far its answers are those of the model in fp32, where `trace.py` has compared them.
  Optional<Agreement> agreement();

  /// Where the weights come from and under which licence, as free text by key.
  Map<String, Object> provenance();
}
