package dev.berth.storage;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;

class KeyOrderTest {

  /// The order that S3's documentation gives.
  private static final Comparator<String> BYTES = (a, b) ->
      Arrays.compareUnsigned(a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));

  @Test
  void keysAreInTheOrderOfTheirBytes() {
    var keys = List.of(
        "", "a", "ab", "a/", "a.txt", "a0", "B", "é", "日本", "\ud7ff", "\ue000",
        "\uffff", "😀", "😀a", "\ud800\udc00", "\udbff\udfff", "a\uffff", "a😀");
    assertThat(keys.stream().sorted(new KeyOrder())).containsExactlyElementsOf(keys.stream().sorted(BYTES).toList());
  }
}
