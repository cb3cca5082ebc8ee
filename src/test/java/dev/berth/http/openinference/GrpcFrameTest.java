package dev.berth.http.openinference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.hooks.BadInputException;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The prefix of a message, as no client writes it wrong.
class GrpcFrameTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "00000000           | found 4 bytes, expected a message behind the 5 of its prefix",
        "0100000000         | found a compressed message, expected one that is not",
        "000000000201       | found 1 bytes behind the prefix, expected one message of 2",
        "00000000010102     | found 2 bytes behind the prefix, expected one message of 1",
        "00ffffffff0102     | found 2 bytes behind the prefix, expected one message of 4294967295"
      })
  void aBrokenOneIsNamed(String body, String message) {
    assertThatThrownBy(() -> GrpcFrame.message(HexFormat.of().parseHex(body)))
        .isInstanceOf(BadInputException.class)
        .hasMessageContaining(message);
  }

  @Test
  void namesAreReadAsSoonAsTheyAreWhole() {
    var message = HexFormat.of().parseHex("00000000ff" + "0a0161" + "120131" + "2a05");
    for (int length = 0; length < message.length - 1; length++) {
      assertThat(GrpcMessages.askedFirst(Arrays.copyOf(message, length), false)).isEmpty();
    }
    assertThat(GrpcMessages.askedFirst(message, false)).contains(new GrpcMessages.Asked("a", "1"));
  }
}
