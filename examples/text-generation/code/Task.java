import java.util.List;

/// One text to write: a record.
///
/// @param prompt its tokens, at least one
/// @param maxTokens how many it may have; with the prompt no more than the model can look back on
/// @param stops the text ends before the first of them
record Task(long[] prompt, int maxTokens, List<String> stops, Sampler.Settings sampling, Form form) {}
