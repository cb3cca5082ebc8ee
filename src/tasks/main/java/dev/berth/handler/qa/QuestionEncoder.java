package dev.berth.handler.qa;

import dev.berth.handler.task.Row;
import dev.berth.handler.task.TaskInput;
import dev.berth.hooks.BadInputException;
import dev.berth.memory.RequestMemory;
import dev.berth.tokenizer.RowTemplate;
import dev.berth.tokenizer.Tokenizer;
import dev.berth.tokenizer.Tokens;
import java.util.Arrays;
import java.util.Map;

/// From questions to tokens, and from their windows to the rows that the model reads. Safe for use
/// by many threads.
final class QuestionEncoder {

    /// The least tokens of a window where a context needs several: with fewer, a small request would
    /// take a forward for every token.
    private static final int LEAST_ROOM = 16;

    /// What a record costs in memory beside its text and tokens, and each of its answers from the
    /// search to the response.
    private static final long RECORD = 500;

    private static final long ANSWER = 1000;

    /// The least by which a window moves on, but half of a small one: with less, a small request
    /// would be many windows.
    private static final int LEAST_STEP = 16;

    private final Tokenizer tokenizer;
    private final RowTemplate template;
    private final int special;
    private final int longestRow;

    /// @param longestRow the most tokens of a row that the model has a shape for
    QuestionEncoder(Tokenizer tokenizer, int longestRow) {
        this.tokenizer = tokenizer;
        this.template = tokenizer.template();
        this.special = template.idsOfPair(new long[0], new long[0]).length;
        this.longestRow = longestRow;
    }

    /// @param contexts those of the request that have been tokenised already
    EncodedQuestion encode(TaskInput<Parameters> input, Map<String, Tokens> contexts) {
        var question = Question.read(input);
        RequestMemory.charge(RECORD);
        var parameters = input.parameters();
        var questionIds = tokens(question, "question", question.question()).ids();
        if (questionIds.length > parameters.maxQuestionLength()) {
            questionIds = Arrays.copyOf(questionIds, parameters.maxQuestionLength());
        }
        int longest = Math.min(parameters.maxSequenceLength(), longestRow);
        int room = longest - special - questionIds.length;
        var context = contexts.computeIfAbsent(question.context(), text -> tokens(question, "context", text));
        int least = Math.min(LEAST_ROOM, context.size());
        if (room < least) {
            throw new BadInputException(
                    ("%sparameters.max_seq_len: found %d, expected at least %d: the question takes %d tokens, "
                                    + "the special tokens %d, and a window of the context %d")
                            .formatted(
                                    prefix(question),
                                    longest,
                                    longest - room + least,
                                    questionIds.length,
                                    special,
                                    least));
        }
        RequestMemory.charge(ANSWER * parameters.spansOf(context.size()));
        int stride = stride(question, parameters, longest, context.size(), room);
        return new EncodedQuestion(question, questionIds, context, Windows.over(context.size(), room, stride));
    }

    /// The tokens that windows share: those of the pipeline, unless windows would hardly move on.
    /// Then an own stride is refused, and a default one is less.
    private static int stride(Question question, Parameters parameters, int longest, int tokens, int room) {
        int most = Math.max(room / 2, room - LEAST_STEP);
        if (!parameters.ownStride()) {
            return Math.min(Math.min(parameters.docStride(), longest / 2), most);
        }
        if (parameters.docStride() > most && tokens > room) {
            throw new BadInputException(
                    "%sparameters.doc_stride: found %d, expected at most %d: a window holds %d tokens of the context, and moves on by %d or more"
                            .formatted(prefix(question), parameters.docStride(), most, room, room - most));
        }
        return Math.min(parameters.docStride(), most);
    }

    private static String prefix(Question question) {
        return question.name().isEmpty() ? "" : question.name() + ": ";
    }

    Row row(EncodedQuestion record, int window) {
        int start = record.windows().start(window);
        var context = Arrays.copyOfRange(
                record.tokens().ids(), start, record.windows().end(window));
        return new Row(
                template.idsOfPair(record.ids(), context), template.typesOfPair(record.ids().length, context.length));
    }

    /// What stands in each window beside the context, in tokens.
    int tokensBeside(EncodedQuestion record) {
        return special + record.ids().length;
    }

    /// Where the context's tokens begin in the row.
    int contextOffset(EncodedQuestion record) {
        return template.secondOfPair(record.ids().length);
    }

    private Tokens tokens(Question question, String field, String text) {
        var tokens = tokenizer.tokens(text);
        if (tokens.size() == 0) {
            throw new BadInputException("%s: found no character that the model's tokenizer keeps, expected text"
                    .formatted(Question.field(question.name(), field)));
        }
        return tokens;
    }
}
