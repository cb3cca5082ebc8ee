package dev.berth.transform;

import java.util.Arrays;
import java.util.Optional;

/// What the objects of a job are, and what becomes of them. Each kind reads its own options.
sealed interface JobKind permits Records, Tables, Envelopes {

  /// Reads the options of the kind that `--format` and the content type name. What is wrong is told
  /// to the reader.
  static JobKind read(JobReader options) {
    var format = options.text(JobOption.FORMAT).orElse("sagemaker");
    var envelope =
        Arrays.stream(Envelope.values())
            .filter(known -> format.equals(known.toString()))
            .findFirst();
    if (envelope.isPresent()) {
      return Envelopes.read(envelope.get(), options);
    }
    if (!format.equals("sagemaker")) {
      options.problem(
          "%s: found %s, expected sagemaker, bedrock or openai", JobOption.FORMAT, format);
    }
    Envelopes.requireNone(format, options);
    return Tables.type(options)
        .map(type -> Tables.read(type, options))
        .orElseGet(() -> Records.read(options));
  }

  /// The records that a container gets, and what it answers.
  Records records();

  /// The content type of the outputs.
  Optional<String> outputType();

  /// What the bytes of an output depend on.
  String madeBy();

  /// Whether an error that stands in an output is found there.
  boolean findsErrors();

  /// Tells why objects can't be split. An output must not depend on which records share a request,
  /// nor on how many instances there are.
  void requireSplittable(JobReader options);
}
