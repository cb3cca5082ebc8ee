package dev.berth.hooks;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MediaTypeTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      application/json | application/json
      Application/JSON | application/json
       text/csv ;header=Present | text/csv; header=Present
      text/csv; Charset="utf-8" | text/csv; charset=utf-8
      text/plain;a="x, \\"y\\"" | text/plain; a="x, \\"y\\""
      text/csv; ; q=0.5; | text/csv; q=0.5
      */* | */*
      """)
    void readsWhatTheFieldWrites(String text, String normal) {
        assertThat(MediaType.parse(text).orElseThrow()).hasToString(normal);
    }

    @Test
    void theSameTypeMayHaveOtherParameters() {
        var json = MediaType.parse("Application/JSON; charset=utf-8").orElseThrow();
        assertThat(json.sameTypeAs(MediaType.JSON)).isTrue();
        assertThat(MediaType.JSON.sameTypeAs(json)).isTrue();
        assertThat(json).isNotEqualTo(MediaType.JSON);
        assertThat(MediaType.ANY.sameTypeAs(MediaType.JSON)).isFalse();
        assertThat(MediaType.CSV.sameTypeAs(MediaType.TEXT)).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "json", "text/", "/csv", "text/csv; q", "text/csv q=1", "te xt/csv", "text/csv; a=\"open"})
    void readsNothingElse(String text) {
        assertThat(MediaType.parse(text)).isEmpty();
    }

    @Test
    void aRangeCoversTypesAndIgnoresTheirParameters() {
        var textRange = MediaType.of("text", "*");
        assertThat(textRange.includes(MediaType.parse("text/csv; header=absent").orElseThrow()))
                .isTrue();
        assertThat(textRange.includes(MediaType.JSON)).isFalse();
        assertThat(MediaType.ANY.includes(MediaType.JSON)).isTrue();
        assertThat(textRange.isRange()).isTrue();
        assertThat(MediaType.CSV.isRange()).isFalse();
    }
}
