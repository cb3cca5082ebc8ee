package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.content.BatchStrategy;
import java.util.List;
import org.junit.jupiter.api.Test;

class ApiWordsTest {

  @Test
  void wordsAreThoseOfTheApi() {
    assertThat(SplitType.values())
        .extracting(Enum::toString)
        .containsExactly("None", "Line", "RecordIO", "TFRecord");
    assertThat(AssembleWith.values()).extracting(Enum::toString).containsExactly("None", "Line");
    assertThat(JoinSource.values()).extracting(Enum::toString).containsExactly("None", "Input");
    assertThat(BatchStrategy.values())
        .extracting(Enum::toString)
        .containsExactly("SingleRecord", "MultiRecord");
  }

  @Test
  void wordsAreReadInTheirOwnCaseOnly() {
    assertThat(ApiWords.parse(SplitType.class, "RecordIO")).contains(SplitType.RECORD_IO);
    assertThat(ApiWords.parse(BatchStrategy.class, "MultiRecord"))
        .contains(BatchStrategy.MULTI_RECORD);
    assertThat(ApiWords.parse(SplitType.class, "recordio")).isEmpty();
    assertThat(ApiWords.parse(SplitType.class, "RECORD_IO")).isEmpty();
    assertThat(ApiWords.parse(SplitType.class, "")).isEmpty();
  }

  @Test
  void expectedWordsMakeASentence() {
    assertThat(ApiWords.expected(List.of(SplitType.values())))
        .isEqualTo("None, Line, RecordIO or TFRecord");
    assertThat(ApiWords.expected(List.of(JoinSource.values()))).isEqualTo("None or Input");
    assertThat(ApiWords.expected(List.of(SplitType.LINE))).isEqualTo("Line");
  }
}
