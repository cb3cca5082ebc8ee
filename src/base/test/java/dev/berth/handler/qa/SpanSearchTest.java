package dev.berth.handler.qa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.berth.tokenizer.Tokens;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class SpanSearchTest {

    private static final Parameters.Rows ROWS = Parameters.defaults(512).rows();
    private static final int OFFSET = 2;

    /// Compares with the definition, written out as plainly as can be. Ties are many, since logits
    /// are whole numbers.
    @Property
    void theBestSpansAreThoseOfTheDefinition(
            @ForAll @Size(min = 6, max = 20) List<@IntRange(min = -8, max = 8) Integer> logits,
            @ForAll @IntRange(min = 1, max = 9) int topK,
            @ForAll @IntRange(min = 1, max = 6) int maxAnswerLength,
            @ForAll boolean handleImpossible,
            @ForAll boolean hasClassification) {
        var start = array(logits);
        var end = array(logits.reversed());
        int tokens = start.length - OFFSET - 1;
        var parameters = parameters(topK, maxAnswerLength, handleImpossible, false);
        var search = new SpanSearch(parameters, hasClassification, tokens(100 + tokens))
                .of(new SpanModel.Logits(start, end, 1), 0, OFFSET, 100, 100 + tokens);

        var expected = new ArrayList<Spans.Span>();
        for (int i = 0; i < tokens; i++) {
            for (int j = i; j < tokens && j < i + maxAnswerLength; j++) {
                expected.add(new Spans.Span(
                        100 + i,
                        101 + j,
                        probability(start, OFFSET + i, tokens, hasClassification)
                                * probability(end, OFFSET + j, tokens, hasClassification)));
            }
        }
        expected.sort(Comparator.comparingDouble(Spans.Span::score).reversed());
        var found = search.found();
        assertThat(found).hasSize(Math.min(topK, expected.size()));
        for (int k = 0; k < found.size(); k++) {
            assertThat(found.get(k).score()).isCloseTo(expected.get(k).score(), within(1e-12));
        }
        assertThat(search.noAnswer())
                .isCloseTo(
                        hasClassification ? probability(start, 0, tokens, true) * probability(end, 0, tokens, true) : 0,
                        within(1e-12));
    }

    @Test
    void logitsThatAreNoNumbersAreAnErrorAndNoAnswer() {
        for (var logits : List.of(new float[] {0, Float.NaN}, new float[] {Float.NaN, 0})) {
            assertThatThrownBy(() -> new SpanSearch(parameters(1, 15, false, true), true, tokens(10))
                            .of(new SpanModel.Logits(logits, new float[] {0, 0}, 1), 0, 1, 0, 1))
                    .isInstanceOf(ArithmeticException.class);
        }
    }

    static Parameters parameters(int topK, int maxAnswerLength, boolean handleImpossible, boolean alignToWords) {
        return new Parameters(topK, maxAnswerLength, ROWS, handleImpossible, alignToWords);
    }

    /// Tokens of one code point, each a word.
    private static Tokens tokens(int count) {
        return new Tokens(
                new long[count],
                IntStream.range(0, count).toArray(),
                IntStream.rangeClosed(1, count).toArray(),
                LongStream.range(0, count).toArray());
    }

    private static float[] array(List<Integer> values) {
        var array = new float[values.size()];
        for (int i = 0; i < array.length; i++) {
            array[i] = values.get(i);
        }
        return array;
    }

    private static double probability(float[] logits, int index, int tokens, boolean hasClassification) {
        double sum = hasClassification ? Math.exp(logits[0]) : 0;
        for (int i = 0; i < tokens; i++) {
            sum += Math.exp(logits[OFFSET + i]);
        }
        return Math.exp(logits[index]) / sum;
    }
}
