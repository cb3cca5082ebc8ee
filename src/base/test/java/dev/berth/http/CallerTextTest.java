package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CallerTextTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
      question: found the text "SECRET", expected a list | question: expected a list
      line 3: context: found 7, expected a text | line 3: context: expected a text
      found 2 values, expected 3 | expected 3
      body: found 0xff at offset 3, which is no UTF-8; expected UTF-8 text | body: expected UTF-8 text
      body: found "a, expected SECRET", expected text | body: expected text
      body: found "a: found SECRET", expected text | body: expected text
      array "SECRET": found a second array, expected one | array: expected one
      body: found 5 bytes, expected at most 4; raise X (0: no limit) | body: expected at most 4; raise X (0: no limit)
      body: not JSON at column 1: found unrecognized token 'SECRET', expected x | body: not JSON at column 1: expected x
      For input string "SECRET" | For input string
      predictFn (code/Inference.java) failed at Inference.java:9: SECRET | predictFn (code/Inference.java) failed at Inference.java:9
      Unknown city 'SECRET' | Unknown city
      Unknown city «SECRET» | Unknown city
      the request's time ran out while it was queued | the request's time ran out while it was queued
      "/SECRET": no such path | ~~
      """)
    @Tag("OBS-05")
    void theLogHasThePlaceAndTheExpectationAndNotWhatWasFound(String message, String logged) {
        assertThat(CallerText.withoutExcerpts(message)).isEqualTo(logged);
    }

    @Test
    void aMessageOfAnyLengthIsCut() {
        assertThat(CallerText.withoutExcerpts("a".repeat(1000))).hasSize(201).endsWith("…");
        assertThat(CallerText.withoutExcerpts("x: found y, expected " + "z".repeat(1000)))
                .hasSize(201)
                .startsWith("x: expected z");
        assertThat(CallerText.withoutExcerpts(": found ".repeat(1_000_000))).isEmpty();
        assertThat(CallerText.withoutExcerpts(null)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
      /invocations | /invocations
      /a/b.c:d=e@f+g-h_i | /a/b.c:d=e@f+g-h_i
      /x] ERROR Worker - ends [ | "/x] ERROR Worker - ends ["
      /a"b\\c | "/a\\"b\\\\c"
      /%41 | "/%41"
      """)
    void whatAClientSentIsQuotedUnlessItIsPlain(String sent, String logged) {
        assertThat(CallerText.logged(sent)).isEqualTo(logged);
        assertThat(CallerText.logged("/" + "a".repeat(1000))).hasSize(101).endsWith("…");
    }
}
