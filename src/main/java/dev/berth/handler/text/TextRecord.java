package dev.berth.handler.text;

import dev.berth.tokenizer.Encoding;

/// A record on its way to the model: a row of tokens, or a bad record that keeps its place among
/// the others.
///
/// @param <P> the parameters of the task
public sealed interface TextRecord<P> {

  /// @param text what the caller sent
  /// @param alone whether it came as the only input of a body
  record Encoded<P>(Text text, P parameters, boolean alone, Encoding row)
      implements TextRecord<P> {}

  /// @param message what is wrong with it
  record Rejected<P>(String message) implements TextRecord<P> {}
}
