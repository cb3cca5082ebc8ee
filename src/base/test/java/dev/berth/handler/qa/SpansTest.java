package dev.berth.handler.qa;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What the recorded answers of `ReferenceTest` do not show.
class SpansTest {

    /// Spans and answers as `start-end:score`. Equal texts are one answer where the first was found.
    /// U+0130 is two characters in lower case, and a sigma at the end of a word is another one. "No
    /// answer" scores 0.25, and is the last among equals.
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      Oslo, OSLO, Rome. | 5 | false | 6-10:0.25 12-16:0.375 0-4:0.5 | 6-10:0.75 12-16:0.375
      a b a | 1 | false | 2-3:0.5 0-1:0.375 4-5:0.375 | 0-1:0.75
      İ i\u0307 ΟΔΟΣ οδος | 5 | false | 0-1:0.125 2-4:0.125 5-9:0.25 10-14:0.25 | 5-9:0.5 0-1:0.25
      a b c | 5 | true | 0-1:0.25 2-3:0.25 4-5:0.125 | 0-1:0.25 2-3:0.25 0-0:0.25 4-5:0.125
      a b c | 5 | false | 0-1:0.25 2-3:0.25 4-5:0.125 | 0-1:0.25 2-3:0.25 4-5:0.125
      """)
    void spansBecomeAnswers(String context, int topK, boolean handleImpossible, String spans, String answers) {
        var parameters = new Parameters(topK, 15, Parameters.defaults(512).rows(), handleImpossible, true);
        var found = Stream.of(spans.split(" "))
                .map(span -> span.split("[-:]"))
                .map(span -> new Spans.Span(
                        Integer.parseInt(span[0]), Integer.parseInt(span[1]), Double.parseDouble(span[2])))
                .toList();
        assertThat(new Spans(found, 0.25).answers(context, parameters))
                .isSortedAccordingTo(Comparator.comparingDouble(Answer::score).reversed())
                .allSatisfy(answer ->
                        assertThat(answer.answer()).isEqualTo(context.substring(answer.start(), answer.end())))
                .extracting(answer -> "%d-%d:%s".formatted(answer.start(), answer.end(), answer.score()))
                .isEqualTo(List.of(answers.split(" ")));
    }
}
