package dev.berth.handler.qa;

import dev.berth.handler.task.TaskAnswer;
import java.util.List;

/// What became of one record: its answers, or why it has none.
public sealed interface QuestionAnswer {

    /// @param answers the best first; none where this is of a piece of a record, whose answers `join`
    ///   finds
    /// @param listed whether the caller asked for several and so gets a list even of one
    /// @param alone whether the question came as one JSON object
    /// @param spans what was found in a piece; none where the record was predicted whole
    record Answered(List<Answer> answers, boolean listed, boolean alone, Spans spans) implements QuestionAnswer {
        public Answered {
            answers = List.copyOf(answers);
        }

        /// The answers to a whole record.
        public Answered(List<Answer> answers, boolean listed, boolean alone) {
            this(answers, listed, alone, Spans.NONE);
        }
    }

    /// @param message what was wrong with the record
    record Rejected(String message) implements QuestionAnswer {}

    /// As it is written: an answer, a list of answers, or an error. In CSV that is the columns
    /// `answer,score,start,end`, again for each further answer, without a header, as the platform
    /// joins rows by position.
    static TaskAnswer written(QuestionAnswer answer) {
        return switch (answer) {
            case Answered(var answers, var listed, var alone, var _) ->
                new TaskAnswer.Answered(listed ? answers : answers.getFirst(), alone);
            case Rejected(var message) -> new TaskAnswer.Rejected(message);
        };
    }
}
