package dev.berth.handler.qa;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;

/// Makes the answers to a record of the spans of all its windows, as the question-answering
/// pipeline of `transformers` 4.53 does.
///
/// Spans of the same text, ignoring case, are one answer. Their scores are added, so that the
/// answer of two windows may score more than 1. It stands where the first of them was found: in the
/// order of the windows, and then of the scores. Of answers that score the same, the one found
/// first is the first, and "no answer" is the last.
///
/// Used by one thread, for one record.
final class Answers {

    /// Code points between two places whose index in the text is known.
    private static final int STRIDE = 64;

    private final String context;
    private final int[] indexes;

    private Answers(String context) {
        this.context = context;
        this.indexes = new int[context.codePointCount(0, context.length()) / STRIDE + 1];
        for (int i = 1; i < indexes.length; i++) {
            indexes[i] = context.offsetByCodePoints(indexes[i - 1], STRIDE);
        }
    }

    /// The best answers, the best first.
    static List<Answer> of(String context, Parameters parameters, Spans spans) {
        return new Answers(context).best(spans, parameters);
    }

    private List<Answer> best(Spans spans, Parameters parameters) {
        var sums = new LinkedHashMap<Text, Spans.Span>();
        spans.found().forEach(span -> sums.merge(text(span), span, Spans.Span::with));
        var competing = new ArrayList<>(sums.values());
        if (parameters.handleImpossibleAnswer()) {
            competing.add(new Spans.Span(0, 0, spans.noAnswer()));
        }
        competing.sort(Comparator.comparingDouble(Spans.Span::score).reversed());
        return competing.stream().limit(parameters.topK()).map(this::answer).toList();
    }

    private Answer answer(Spans.Span span) {
        var text = context.substring(index(span.start()), index(span.end()));
        return new Answer(text, span.score(), span.start(), span.end());
    }

    private Text text(Spans.Span span) {
        return Text.of(context, index(span.start()), index(span.end()));
    }

    private int index(int codePoint) {
        return context.offsetByCodePoints(indexes[codePoint / STRIDE], codePoint % STRIDE);
    }

    /// A part of the context, equal to one that reads the same in lower case. A span may be as long
    /// as the context, so the lower case is not kept.
    private record Text(String context, int from, int to, int hash) {

        static Text of(String context, int from, int to) {
            return new Text(context, from, to, lowerCase(context, from, to).hashCode());
        }

        private static String lowerCase(String context, int from, int to) {
            return context.substring(from, to).toLowerCase(Locale.ROOT);
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Text text
                    && hash == text.hash
                    && ((from == text.from && to == text.to)
                            || lowerCase(context, from, to).equals(lowerCase(context, text.from, text.to)));
        }

        @Override
        public int hashCode() {
            return hash;
        }
    }
}
