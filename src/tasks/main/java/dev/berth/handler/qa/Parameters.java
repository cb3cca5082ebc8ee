package dev.berth.handler.qa;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.artifact.ModelArtifact;
import dev.berth.content.Fields;
import dev.berth.handler.task.InputReader;
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
/// @param docStride how many tokens neighbouring windows share
/// @param ownStride whether that was asked for; else it is at most half of `maxSequenceLength`
/// @param maxSequenceLength the most tokens of question, window and special tokens together
/// @param maxQuestionLength where the question is cut, in tokens
/// @param handleImpossibleAnswer whether "no answer" is an answer
/// @param alignToWords whether answers are widened to whole words of the pre-tokenizer, within
///   their window
public record Parameters(
        int topK,
        int maxAnswerLength,
        int docStride,
        boolean ownStride,
        int maxSequenceLength,
        int maxQuestionLength,
        boolean handleImpossibleAnswer,
        boolean alignToWords) {

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
        return new Parameters(1, 15, 128, false, Math.min(DEFAULT_MAX_SEQUENCE_LENGTH, modelLimit), 64, false, true);
    }

    /// Reads questions in the forms of all tasks, and several about one context.
    ///
    /// @throws dev.berth.artifact.ModelArtifactException when the parameters of `model.json` are wrong
    static InputReader<Parameters> reader(ModelArtifact artifact) {
        int longest = artifact.longestRow();
        return new InputReader<>(
                artifact, NAMES, (defaults, fields) -> defaults.with(fields, longest), defaults(longest)) {
            @Override
            protected JsonNode listed(JsonNode inputs, String name) {
                return Question.listed(inputs, name);
            }
        };
    }

    /// Reads a `parameters` object; what it leaves out stays as it is here.
    ///
    /// @param modelLimit the most tokens that the model takes
    Parameters with(Fields fields, int modelLimit) {
        int longest = fields.integer("max_seq_len", 1, modelLimit, maxSequenceLength);
        int stride = fields.integer("doc_stride", 0, Integer.MAX_VALUE, docStride);
        boolean hasStride = fields.integer("doc_stride", 0, Integer.MAX_VALUE).isPresent();
        if (hasStride && stride >= longest) {
            throw new BadInputException("%s: found %d, expected less than max_seq_len, which is %d"
                    .formatted(fields.name("doc_stride"), stride, longest));
        }
        return new Parameters(
                fields.integer("top_k", 1, MAX_TOP_K, topK),
                fields.integer("max_answer_len", 1, Integer.MAX_VALUE, maxAnswerLength),
                stride,
                // A stride was chosen for the max_seq_len that stands beside it.
                hasStride || (ownStride && longest == maxSequenceLength),
                longest,
                fields.integer("max_question_len", 1, Integer.MAX_VALUE, maxQuestionLength),
                fields.bool("handle_impossible_answer", handleImpossibleAnswer),
                fields.bool("align_to_words", alignToWords));
    }

    Parameters withTopK(int topK) {
        return new Parameters(
                topK,
                maxAnswerLength,
                docStride,
                ownStride,
                maxSequenceLength,
                maxQuestionLength,
                handleImpossibleAnswer,
                alignToWords);
    }

    /// The most spans that so many tokens give.
    long spansOf(int tokens) {
        return Math.min(topK, (long) tokens * Math.min(tokens, maxAnswerLength));
    }
}
