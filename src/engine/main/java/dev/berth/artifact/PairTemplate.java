package dev.berth.artifact;

import java.util.List;

/// The special tokens around a question and its context: `before question between context after`.
///
/// BERT writes `[CLS] question [SEP] context [SEP]`, RoBERTa `<s> question </s></s> context </s>`,
/// T5's tokenizer `question </s> context </s>`. The first token of `before`, where there is one, is
/// the classification token.
///
/// @param padding the token that fills a row up
/// @param questionType the token type of everything before the context
/// @param contextType the token type of the context and of what follows it
public record PairTemplate(
        List<Long> before, List<Long> between, List<Long> after, long padding, long questionType, long contextType) {

    public PairTemplate {
        before = List.copyOf(before);
        between = List.copyOf(between);
        after = List.copyOf(after);
    }

    /// Whether a sequence begins with a classification token, which stands for "no answer".
    public boolean hasClassification() {
        return !before.isEmpty();
    }

    /// How many tokens of a sequence are special.
    public int size() {
        return before.size() + between.size() + after.size();
    }
}
