import java.util.Optional;

/// How a caller wants the answer, as the body says it.
///
/// @param stream whether part by part; nothing: the Accept header says it
/// @param usage whether a stream ends with the number of tokens
/// @param model the name that the caller gave, which OpenAI's answers repeat
/// @param id the name of the answer
/// @param created when the request came, in seconds since 1970
record Form(
    Style style, Optional<Boolean> stream, boolean usage, String model, String id, long created) {

  enum Style {
    /// Plain text and nothing around it.
    TEXT,
    /// `{"inputs": …, "parameters": …}`, as text-generation-inference has it.
    GENERATE,
    /// OpenAI's completions.
    COMPLETION,
    /// OpenAI's chat completions.
    CHAT
  }
}
