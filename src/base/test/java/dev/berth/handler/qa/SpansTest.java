package dev.berth.handler.qa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;

class SpansTest {

    @Test
    void equalTextsAreOneAnswerWhereTheFirstWasFound() {
        var answers = answers("Oslo, OSLO, Rome.", 5, false, span(6, 10, 0.2), span(12, 16, 0.3), span(0, 4, 0.4));
        assertThat(answers).extracting(Answer::answer).containsExactly("OSLO", "Rome");
        assertThat(answers.getFirst().start()).isEqualTo(6);
        assertThat(answers.getFirst().end()).isEqualTo(10);
        assertThat(answers.getFirst().score()).isCloseTo(0.6, within(1e-12));
    }

    @Test
    void aTextThatManySpansMakeGoesBeforeOneThatIsBetterThanEach() {
        assertThat(answers("a b a", 1, false, span(2, 3, 0.4), span(0, 1, 0.3), span(4, 5, 0.3)))
                .singleElement()
                .satisfies(answer -> assertThat(answer.answer()).isEqualTo("a"));
    }

    /// U+0130 is two characters in lower case, and a sigma at the end of a word is another one.
    @Test
    void lowerCaseIsThatOfUnicode() {
        assertThat(answers(
                        "İ i\u0307 ΟΔΟΣ οδος",
                        5,
                        false,
                        span(0, 1, 0.1),
                        span(2, 4, 0.1),
                        span(5, 9, 0.3),
                        span(10, 14, 0.3)))
                .extracting(Answer::answer)
                .containsExactly("ΟΔΟΣ", "İ");
    }

    @Test
    void placesAreCountedInCodePoints() {
        var context = "😀".repeat(200) + "Rome";
        assertThat(answers(context, 2, false, span(200, 204, 0.5), span(63, 65, 0.2)))
                .containsExactly(new Answer("Rome", 0.5, 200, 204), new Answer("😀😀", 0.2, 63, 65));
    }

    @Test
    void noAnswerIsTheLastAmongEquals() {
        var spans = new Spans(List.of(span(0, 1, 0.25), span(2, 3, 0.25), span(4, 5, 0.125)), 0.25);
        assertThat(spans.answers("a b c", parameters(5, true)))
                .extracting(Answer::answer)
                .containsExactly("a", "b", "", "c");
        assertThat(spans.answers("a b c", parameters(5, false)))
                .extracting(Answer::answer)
                .containsExactly("a", "b", "c");
    }

    private static Spans.Span span(int start, int end, double score) {
        return new Spans.Span(start, end, score);
    }

    private static List<Answer> answers(String context, int topK, boolean handleImpossible, Spans.Span... spans) {
        return new Spans(List.of(spans), 0).answers(context, parameters(topK, handleImpossible));
    }

    private static Parameters parameters(int topK, boolean handleImpossible) {
        return new Parameters(topK, 15, Parameters.defaults(512).rows(), handleImpossible, true);
    }
}
