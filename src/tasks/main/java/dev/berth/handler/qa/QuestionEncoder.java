package dev.berth.handler.qa;

import dev.berth.handler.task.TaskInput;
import dev.berth.hooks.BadInputException;
import dev.berth.memory.RequestMemory;
import dev.berth.tokenizer.Tokenizer;
import dev.berth.tokenizer.Tokens;
import java.util.Map;

/// From questions to tokens, and windows over those of the context. Safe for use by many threads.
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
    private final int longestRow;

    /// @param longestRow the most tokens of a row that the model has a shape for
    QuestionEncoder(Tokenizer tokenizer, int longestRow) {
        this.tokenizer = tokenizer;
        this.longestRow = longestRow;
    }

    /// @param contexts those of the request that have been tokenised already
    EncodedQuestion encode(TaskInput<Parameters> input, Map<String, Tokens> contexts) {
        var question = Question.read(input);
        RequestMemory.charge(RECORD);
        var rows = input.parameters().rows();
        var asked = tokens(question, "question", question.question());
        asked = asked.part(0, Math.min(asked.size(), rows.longestQuestion()));
        int longest = Math.min(rows.longest(), longestRow);
        var template = tokenizer.template();
        int special = template.specialOfPair();
        int room = longest - special - asked.size();
        var context = contexts.computeIfAbsent(question.context(), text -> tokens(question, "context", text));
        int least = Math.min(LEAST_ROOM, context.size());
        if (room < least) {
            throw new BadInputException(
                    ("%sparameters.max_seq_len: found %d, expected at least %d: the question takes %d tokens, "
                                    + "the special tokens %d, and a window of the context %d")
                            .formatted(
                                    prefix(question), longest, longest - room + least, asked.size(), special, least));
        }
        RequestMemory.charge(ANSWER * input.parameters().spansOf(context.size()));
        int stride = stride(question, rows, context.size(), room);
        return new EncodedQuestion(
                question, asked, context, EncodedQuestion.Windows.over(context.size(), room, stride), template);
    }

    /// The tokens that windows share: those of the pipeline, unless windows would hardly move on.
    /// Then an own stride is refused, and a default one is less.
    private int stride(Question question, Parameters.Rows rows, int tokens, int room) {
        int most = Math.max(room / 2, room - LEAST_STEP);
        if (!rows.isOwnStride()) {
            return Math.min(Math.min(rows.stride(), Math.min(rows.longest(), longestRow) / 2), most);
        }
        if (rows.stride() > most && tokens > room) {
            throw new BadInputException(
                    "%sparameters.doc_stride: found %d, expected at most %d: a window holds %d tokens of the context, and moves on by %d or more"
                            .formatted(prefix(question), rows.stride(), most, room, room - most));
        }
        return Math.min(rows.stride(), most);
    }

    private static String prefix(Question question) {
        return question.name().isEmpty() ? "" : question.name() + ": ";
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
