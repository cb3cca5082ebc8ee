package dev.berth.handler.text;

/// What becomes one entity: the pipeline's `aggregation_strategy`.
public enum Aggregation {
    /// Each token.
    NONE,
    /// Neighbouring tokens of the same label.
    SIMPLE,
    /// Neighbouring words of the same label; a word has the label of its first token.
    FIRST,
    /// The same, with the mean of the scores of a word's tokens.
    AVERAGE,
    /// The same, with the label of the token of a word that is surest.
    MAX
}
