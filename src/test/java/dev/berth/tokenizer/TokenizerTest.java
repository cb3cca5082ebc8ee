package dev.berth.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TokenizerTest {

  @Test
  @Tag("RUN-14")
  void aFileThatIsNoTokenizerIsNamed(@TempDir Path directory) throws IOException {
    var file = Files.writeString(directory.resolve("tokenizer.json"), "{}");
    assertThatThrownBy(() -> Tokenizer.load(file)).isInstanceOf(IOException.class).hasMessageContaining(file.toString());
    assertThatThrownBy(() -> Tokenizer.load(directory.resolve("nothing.json"))).isInstanceOf(IOException.class);
  }

  @Test
  void aTextHasItsWordsTokensAndPlaces() throws IOException {
    try (var tokenizer = Tokenizer.load(Path.of("model-artifact/tokenizer.json"))) {
      var tokens = tokenizer.encode("How old?");
      assertThat(tokens.starts()).containsExactly(0, 4, 7);
      assertThat(tokens.ends()).containsExactly(3, 7, 8);
    }
  }
}
