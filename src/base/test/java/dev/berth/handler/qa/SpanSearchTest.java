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
import net.jqwik.api.constraints.FloatRange;
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
        var search = new SpanSearch(parameters, hasClassification, tokens(100 + tokens));
        search.add(new SpanModel.Logits(start, end, 1), 0, OFFSET, 100, 100 + tokens);

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
        var found = search.found().found();
        assertThat(found).hasSize(Math.min(topK, expected.size()));
        for (int k = 0; k < found.size(); k++) {
            assertThat(found.get(k).score()).isCloseTo(expected.get(k).score(), within(1e-12));
        }
        assertThat(search.found().noAnswer())
                .isCloseTo(
                        hasClassification ? probability(start, 0, tokens, true) * probability(end, 0, tokens, true) : 0,
                        within(1e-12));
    }

    @Property
    void windowsInPiecesGiveTheSameSpansInTheSameOrder(
            @ForAll @Size(min = 8, max = 40) List<@FloatRange(min = -8, max = 8) Float> logits,
            @ForAll @IntRange(min = 1, max = 30) int topK) {
        var start = floats(logits);
        var end = floats(logits.reversed());
        var parameters = parameters(topK, 3, false, false);
        var context = tokens(start.length);
        var whole = new SpanSearch(parameters, true, context);
        var pieces = new ArrayList<Spans>();
        for (int row = 0; row + 6 <= start.length; row += 3) {
            var piece = new SpanSearch(parameters, true, context);
            for (var search : List.of(whole, piece)) {
                search.add(new SpanModel.Logits(start, end, 1), row, OFFSET, row, row + 4);
            }
            pieces.add(piece.found());
        }
        assertThat(Spans.of(pieces).found()).isEqualTo(whole.found().found());
        assertThat(Spans.of(pieces).noAnswer()).isEqualTo(whole.found().noAnswer());
    }

    /// In a SQuAD 2 model the classification token outweighs the context where there is no answer.
    @Test
    void theClassificationTokenTakesPartAlsoWhereNoAnswerIsNotAskedFor() {
        var search = search(parameters(1, 15, false, true), true);
        search.add(new SpanModel.Logits(new float[] {8, 0, -9}, new float[] {8, 0, -9}, 1), 0, 1, 0, 2);
        assertThat(search.found().found())
                .singleElement()
                .satisfies(span -> assertThat(span.score())
                        .isCloseTo(Math.pow(1 / (Math.exp(8) + 1 + Math.exp(-9)), 2), within(1e-12)));
    }

    @Test
    void noAnswerScoresTheLeastOverTheWindows() {
        var search = search(parameters(10, 15, true, true), true);
        search.add(new SpanModel.Logits(new float[] {5, 0, 0}, new float[] {5, 0, 0}, 1), 0, 1, 0, 2);
        search.add(new SpanModel.Logits(new float[] {0, 0, 0}, new float[] {0, 0, 0}, 1), 0, 1, 2, 4);
        assertThat(search.found().noAnswer()).isCloseTo(1 / 9.0, within(1e-12));
    }

    @Test
    void wordsEndWhereTheWindowDoes() {
        var context = new Tokens(
                new long[5], new int[] {0, 2, 4, 6, 9}, new int[] {2, 4, 6, 8, 11}, new long[] {0, 0, 0, 0, -1});
        var search = new SpanSearch(parameters(1, 15, false, true), false, context);
        search.add(new SpanModel.Logits(new float[] {0, 9, 0}, new float[] {0, 9, 0}, 1), 0, 0, 0, 3);
        search.add(new SpanModel.Logits(new float[] {9, 0, 0}, new float[] {9, 0, 0}, 1), 0, 0, 1, 4);
        search.add(new SpanModel.Logits(new float[] {9, 0, 0}, new float[] {0, 0, 9}, 1), 0, 0, 2, 5);
        assertThat(search.found().found()).extracting(Spans.Span::start).containsExactly(0, 2, 4);
        assertThat(search.found().found()).extracting(Spans.Span::end).containsExactly(6, 8, 11);
    }

    @Test
    void logitsThatAreNoNumbersAreAnErrorAndNoAnswer() {
        var parameters = parameters(1, 15, false, true);
        for (var logits : List.of(new float[] {0, Float.NaN}, new float[] {Float.NaN, 0})) {
            assertThatThrownBy(() -> search(parameters, true)
                            .add(new SpanModel.Logits(logits, new float[] {0, 0}, 1), 0, 1, 0, 1))
                    .isInstanceOf(ArithmeticException.class);
        }
    }

    static Parameters parameters(int topK, int maxAnswerLength, boolean handleImpossible, boolean alignToWords) {
        return new Parameters(topK, maxAnswerLength, ROWS, handleImpossible, alignToWords);
    }

    private static SpanSearch search(Parameters parameters, boolean hasClassification) {
        return new SpanSearch(parameters, hasClassification, tokens(10));
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
        return floats(values.stream().map(Integer::floatValue).toList());
    }

    private static float[] floats(List<Float> values) {
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
