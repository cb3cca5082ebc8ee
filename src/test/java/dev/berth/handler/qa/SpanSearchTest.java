package dev.berth.handler.qa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.FloatRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class SpanSearchTest {

  private static final int OFFSET = 2;

  /// Compares with the definition, written out as plainly as can be.
  @Property
  void theBestSpansAreThoseOfTheDefinition(
      @ForAll @Size(min = 6, max = 20) List<@FloatRange(min = -8, max = 8) Float> logits,
      @ForAll @IntRange(min = 1, max = 9) int topK,
      @ForAll @IntRange(min = 1, max = 6) int maxAnswerLength,
      @ForAll boolean handleImpossible) {
    var start = array(logits);
    var end = array(logits.reversed());
    int tokens = start.length - OFFSET - 1;
    var search = new SpanSearch(new Parameters(topK, maxAnswerLength, 128, false, 384, 64, handleImpossible, true), true);
    search.add(start, end, 0, OFFSET, tokens, 100);

    var expected = new ArrayList<SpanSearch.Span>();
    for (int i = 0; i < tokens; i++) {
      for (int j = i; j < tokens && j < i + maxAnswerLength; j++) {
        expected.add(new SpanSearch.Span(100 + i, 100 + j,
            probability(start, OFFSET + i, tokens, handleImpossible) * probability(end, OFFSET + j, tokens, handleImpossible)));
      }
    }
    if (handleImpossible) {
      expected.add(new SpanSearch.Span(SpanSearch.NO_ANSWER, SpanSearch.NO_ANSWER,
          probability(start, 0, tokens, true) * probability(end, 0, tokens, true)));
    }
    expected.sort(Comparator.comparingDouble(SpanSearch.Span::score).reversed());
    var best = search.best();
    assertThat(best).hasSize(Math.min(topK, expected.size()));
    for (int k = 0; k < best.size(); k++) {
      assertThat(best.get(k).score()).isCloseTo(expected.get(k).score(), within(1e-12));
    }
  }

  /// Ties are many, since logits have three values only.
  @Property
  void windowsInPiecesGiveTheSameSpansInTheSameOrder(
      @ForAll @Size(min = 8, max = 40) List<@IntRange(min = 0, max = 2) Integer> logits,
      @ForAll @IntRange(min = 1, max = 30) int topK,
      @ForAll boolean handleImpossible) {
    var start = array(logits.stream().map(Integer::floatValue).toList());
    var end = array(logits.reversed().stream().map(Integer::floatValue).toList());
    var parameters = new Parameters(topK, 3, 128, false, 384, 64, handleImpossible, true);
    var whole = new SpanSearch(parameters, true);
    var joined = new SpanSearch(parameters, true);
    for (int row = 0; row + 6 <= start.length; row += 3) {
      var piece = new SpanSearch(parameters, true);
      for (var search : List.of(whole, piece)) {
        search.add(start, end, row, OFFSET, 4, row);
      }
      joined.add(piece.found());
    }
    assertThat(joined.best()).isEqualTo(whole.best());
  }

  private static float[] array(List<Float> values) {
    var array = new float[values.size()];
    for (int i = 0; i < array.length; i++) {
      array[i] = values.get(i);
    }
    return array;
  }

  private static double probability(float[] logits, int index, int tokens, boolean withClassification) {
    double sum = withClassification ? Math.exp(logits[0]) : 0;
    for (int i = 0; i < tokens; i++) {
      sum += Math.exp(logits[OFFSET + i]);
    }
    return Math.exp(logits[index]) / sum;
  }

  @Test
  void noAnswerScoresTheLeastOverTheWindows() {
    var search = new SpanSearch(new Parameters(10, 15, 128, false, 384, 64, true, true), true);
    search.add(new float[] {5, 0, 0}, new float[] {5, 0, 0}, 0, 1, 2, 0);
    search.add(new float[] {0, 0, 0}, new float[] {0, 0, 0}, 0, 1, 2, 2);
    var noAnswer = search.best().stream().filter(span -> span.first() == SpanSearch.NO_ANSWER).toList();
    assertThat(noAnswer).singleElement().satisfies(span -> assertThat(span.score()).isCloseTo(1 / 9.0, within(1e-12)));
  }

  @Test
  void withoutAClassificationTokenNoAnswerIsTheLast() {
    var search = new SpanSearch(new Parameters(10, 15, 128, false, 384, 64, true, true), false);
    search.add(new float[] {9, 0, 0}, new float[] {9, 0, 0}, 0, 1, 2, 0);
    assertThat(search.best()).hasSize(4).last().isEqualTo(new SpanSearch.Span(SpanSearch.NO_ANSWER, SpanSearch.NO_ANSWER, 0));
    assertThat(search.best().getFirst().score()).isCloseTo(1 / 4.0, within(1e-12));
  }

  @Test
  void logitsThatAreNoNumbersAreAnErrorAndNoAnswer() {
    var search = new SpanSearch(new Parameters(1, 15, 128, false, 384, 64, false, true), true);
    assertThatThrownBy(() -> search.add(new float[] {0, Float.NaN}, new float[] {0, 0}, 0, 1, 1, 0))
        .isInstanceOf(ArithmeticException.class);
  }
}
