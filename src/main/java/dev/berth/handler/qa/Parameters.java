package dev.berth.handler.qa;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
import java.util.List;
import org.apache.commons.text.similarity.LevenshteinDistance;

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
record Parameters(
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
  private static final List<String> NAMES =
      List.of(
          "top_k",
          "max_answer_len",
          "doc_stride",
          "max_seq_len",
          "max_question_len",
          "handle_impossible_answer",
          "align_to_words");

  /// The pipeline's defaults, for a model that takes at most `modelLimit` tokens.
  static Parameters defaults(int modelLimit) {
    return new Parameters(
        1, 15, 128, false, Math.min(DEFAULT_MAX_SEQUENCE_LENGTH, modelLimit), 64, false, true);
  }

  /// Reads a `parameters` object; what it leaves out stays as it is here.
  ///
  /// @param name what to call the object in messages
  /// @param modelLimit the most tokens that the model takes
  Parameters with(JsonNode json, String name, int modelLimit) {
    if (json.isMissingNode() || json.isNull()) {
      return this;
    }
    if (!json.isObject()) {
      throw new BadInputException(
          "%s: found %s, expected an object".formatted(name, Excerpt.of(json)));
    }
    json.fieldNames().forEachRemaining(field -> checkKnown(field, name));
    int longest = integer(json, name, "max_seq_len", 1, modelLimit, maxSequenceLength);
    int stride = integer(json, name, "doc_stride", 0, Integer.MAX_VALUE, docStride);
    boolean hasStride = json.hasNonNull("doc_stride");
    if (hasStride && stride >= longest) {
      throw new BadInputException(
          "%s.doc_stride: found %d, expected less than max_seq_len, which is %d"
              .formatted(name, stride, longest));
    }
    return new Parameters(
        integer(json, name, "top_k", 1, MAX_TOP_K, topK),
        integer(json, name, "max_answer_len", 1, Integer.MAX_VALUE, maxAnswerLength),
        stride,
        // A stride was chosen for the max_seq_len that stands beside it.
        hasStride || (ownStride && longest == maxSequenceLength),
        longest,
        integer(json, name, "max_question_len", 1, Integer.MAX_VALUE, maxQuestionLength),
        bool(json, name, "handle_impossible_answer", handleImpossibleAnswer),
        bool(json, name, "align_to_words", alignToWords));
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

  private static void checkKnown(String field, String name) {
    if (!NAMES.contains(field)) {
      var near = nearest(field);
      throw new BadInputException(
          "%s: found the unknown parameter %s, expected %s"
              .formatted(
                  name,
                  Excerpt.quoted(field),
                  near == null ? "one of " + String.join(", ", NAMES) : near));
    }
  }

  private static String nearest(String field) {
    var distance = new LevenshteinDistance(Math.min(4, field.length() / 2));
    return field.length() > 40
        ? null
        : NAMES.stream()
            .filter(known -> distance.apply(field, known) >= 0)
            .min((a, b) -> distance.apply(field, a) - distance.apply(field, b))
            .orElse(null);
  }

  private static int integer(
      JsonNode json, String name, String field, int least, int most, int otherwise) {
    var value = json.path(field);
    if (value.isMissingNode() || value.isNull()) {
      return otherwise;
    }
    if (!value.isIntegralNumber()
        || !value.canConvertToInt()
        || value.intValue() < least
        || value.intValue() > most) {
      var range =
          most == Integer.MAX_VALUE ? "of at least " + least : "from " + least + " to " + most;
      throw new BadInputException(
          "%s.%s: found %s, expected a whole number %s"
              .formatted(name, field, Excerpt.of(value), range));
    }
    return value.intValue();
  }

  private static boolean bool(JsonNode json, String name, String field, boolean otherwise) {
    var value = json.path(field);
    if (value.isMissingNode() || value.isNull()) {
      return otherwise;
    }
    if (!value.isBoolean()) {
      throw new BadInputException(
          "%s.%s: found %s, expected true or false".formatted(name, field, Excerpt.of(value)));
    }
    return value.booleanValue();
  }
}
