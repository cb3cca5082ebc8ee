package dev.berth.handler.qa;

import dev.berth.content.Sha256;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;

/// What was found in the windows of a record, or in some of them, and the answers that it makes.
///
/// @param found the best spans of each window: one window after another, in each the best first
/// @param noAnswer the score of "no answer"
record Spans(List<Span> found, double noAnswer) {

    /// A span of the context by the indexes of its Java string, `end` exclusive.
    record Span(int start, int end, double score) {

        Span with(Span other) {
            return new Span(start, end, score + other.score);
        }
    }

    Spans {
        found = List.copyOf(found);
    }

    /// The spans of all windows or pieces of a record.
    ///
    /// @param parts in their order
    static Spans of(List<Spans> parts) {
        return new Spans(
                parts.stream().flatMap(part -> part.found.stream()).toList(),
                parts.stream().mapToDouble(Spans::noAnswer).min().orElseThrow());
    }

    /// The best answers, the best first, as the question-answering pipeline of `transformers` 4.53
    /// makes them.
    ///
    /// Spans of the same text, ignoring case, are one answer. Their scores are added, so that the
    /// answer of two windows may score more than 1. It stands where the first of them was found: in the
    /// order of the windows, and then of the scores. Of answers that score the same, the one found
    /// first is the first, and "no answer" is the last.
    List<Answer> answers(String context, Parameters parameters) {
        var sums = new LinkedHashMap<ByteBuffer, Span>();
        for (var span : found) {
            // A span may be as long as the context, so its text is not kept.
            var text = context.substring(span.start, span.end).toLowerCase(Locale.ROOT);
            sums.merge(ByteBuffer.wrap(Sha256.of(text.getBytes(StandardCharsets.UTF_8))), span, Span::with);
        }
        var competing = new ArrayList<>(sums.values());
        if (parameters.handleImpossibleAnswer()) {
            competing.add(new Span(0, 0, noAnswer));
        }
        return competing.stream()
                .sorted(Comparator.comparingDouble(Span::score).reversed())
                .limit(parameters.topK())
                .map(span -> answer(span, context))
                .toList();
    }

    private static Answer answer(Span span, String context) {
        int start = context.codePointCount(0, span.start);
        int end = start + context.codePointCount(span.start, span.end);
        return new Answer(context.substring(span.start, span.end), span.score, start, end);
    }
}
