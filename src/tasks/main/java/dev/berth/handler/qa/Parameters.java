package dev.berth.handler.qa;

import dev.berth.content.Fields;
import dev.berth.hooks.BadInputException;
import java.util.List;

/// How to look for an answer: the parameters of the question-answering pipeline of `transformers`
/// 4.53, with its defaults.
///
/// `max_question_len` does what the pipeline documents; with a fast tokenizer the pipeline itself
/// cuts no question.
///
/// @param topK how many answers to give, the best first; a list is answered when it is more than 1
/// @param maxAnswerLength the most tokens of an answer
/// @param handleImpossibleAnswer whether "no answer" is an answer
/// @param alignToWords whether answers are widened to whole words of the pre-tokenizer, within
///   their window
public record Parameters(
        int topK, int maxAnswerLength, Rows rows, boolean handleImpossibleAnswer, boolean alignToWords) {

    /// What a question and its context are read through.
    ///
    /// @param stride how many tokens neighbouring windows share
    /// @param isOwnStride whether that was asked for; else it is at most half of `longest`
    /// @param longest the most tokens of question, window and special tokens together
    /// @param longestQuestion where the question is cut, in tokens
    public record Rows(int stride, boolean isOwnStride, int longest, int longestQuestion) {}

    static final int MAX_TOP_K = 1000;

    private static final int DEFAULT_MAX_SEQUENCE_LENGTH = 384;
    static final List<String> NAMES = List.of(
            "top_k",
            "max_answer_len",
            "doc_stride",
            "max_seq_len",
            "max_question_len",
            "handle_impossible_answer",
            "align_to_words");

    /// The pipeline's defaults, for a model that takes at most `modelLimit` tokens.
    static Parameters defaults(int modelLimit) {
        int longest = Math.min(DEFAULT_MAX_SEQUENCE_LENGTH, modelLimit);
        return new Parameters(1, 15, new Rows(128, false, longest, 64), false, true);
    }

    /// Reads a `parameters` object; what it leaves out stays as it is here.
    ///
    /// @param modelLimit the most tokens that the model takes
    Parameters with(Fields fields, int modelLimit) {
        int longest = fields.integer("max_seq_len", 1, modelLimit, rows.longest);
        var stride = fields.integer("doc_stride", 0, Integer.MAX_VALUE).map(Long::intValue);
        if (stride.isPresent() && stride.get() >= longest) {
            throw new BadInputException("%s: found %d, expected less than max_seq_len, which is %d"
                    .formatted(fields.name("doc_stride"), stride.get(), longest));
        }
        return new Parameters(
                fields.integer("top_k", 1, MAX_TOP_K, topK),
                fields.integer("max_answer_len", 1, Integer.MAX_VALUE, maxAnswerLength),
                new Rows(
                        stride.orElse(rows.stride),
                        // A stride was chosen for the max_seq_len that stands beside it.
                        stride.isPresent() || (rows.isOwnStride && longest == rows.longest),
                        longest,
                        fields.integer("max_question_len", 1, Integer.MAX_VALUE, rows.longestQuestion)),
                fields.bool("handle_impossible_answer", handleImpossibleAnswer),
                fields.bool("align_to_words", alignToWords));
    }

    Parameters withTopK(int topK) {
        return new Parameters(topK, maxAnswerLength, rows, handleImpossibleAnswer, alignToWords);
    }

    /// The most spans that so many tokens give.
    long spansOf(int tokens) {
        return Math.min(topK, (long) tokens * Math.min(tokens, maxAnswerLength));
    }
}
