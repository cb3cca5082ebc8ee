package dev.berth.search;

import com.fasterxml.jackson.annotation.JsonValue;
import java.util.Map;

/// What a text is answered, as JSON its weights alone.
///
/// @param weights of tokens, all above 0, the largest first. A token is spelt as in the vocabulary, or has the
///   digits of its id
/// @param isTruncated whether the model did not see the end of the text
public record SparseEmbedding(@JsonValue Map<String, Float> weights, boolean isTruncated) {}
