package dev.berth.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.memory.NativeHeap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class TokenizerTest {

    @Test
    @Tag("RUN-14")
    void aFileThatIsNoTokenizerIsNamed(@TempDir Path directory) throws IOException {
        var file = Files.writeString(directory.resolve("tokenizer.json"), "{}");
        assertThatThrownBy(() -> Tokenizer.load(file))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(file.toString());
        assertThatThrownBy(() -> Tokenizer.load(directory.resolve("nothing.json")))
                .isInstanceOf(IOException.class);
    }

    @Test
    void aByteOrderMarkIsNoPartOfTheFile(@TempDir Path directory) throws IOException {
        var marked = Files.writeString(
                directory.resolve("tokenizer.json"),
                "\uFEFF" + Files.readString(Path.of("model-artifact/tokenizer.json")));
        try (var tokenizer = Tokenizer.load(marked)) {
            assertThat(tokenizer.tokens("How old?").starts()).containsExactly(0, 4, 7);
        }
    }

    /// A tokenizer takes 6 MB, and the JVM itself takes some meanwhile.
    @Test
    @EnabledOnOs(OS.LINUX)
    void filesOfTheSameContentShareOneTokenizerUntilTheLastIsClosed(@TempDir Path directory) throws IOException {
        var copy = Files.copy(Path.of("model-artifact/tokenizer.json"), directory.resolve("tokenizer.json"));
        try (var last = Tokenizer.load(Path.of("model-artifact/tokenizer.json"))) {
            long one = NativeHeap.used().orElseThrow();
            var others = new ArrayList<Tokenizer>();
            for (int i = 0; i < 10; i++) {
                others.add(Tokenizer.load(copy));
            }
            assertThat(NativeHeap.used().orElseThrow() - one).isLessThan(30 << 20);
            others.forEach(Tokenizer::close);
            others.forEach(Tokenizer::close);
            assertThat(last.tokens("How old?").starts()).hasSize(3);
        }
    }

    @Test
    void anotherFileHasATokenizerOfItsOwn(@TempDir Path directory) throws IOException {
        var sample = Path.of("model-artifact/tokenizer.json");
        var changed = Files.writeString(
                directory.resolve("changed.json"),
                Files.readString(sample).replace("\"lowercase\":true", "\"lowercase\":false"));
        assertThat(Files.size(changed)).isNotEqualTo(Files.size(sample));
        try (var one = Tokenizer.load(sample);
                var other = Tokenizer.load(changed)) {
            assertThat(other.tokens("HOW OLD?").ids())
                    .isNotEqualTo(one.tokens("HOW OLD?").ids());
        }
    }
}
