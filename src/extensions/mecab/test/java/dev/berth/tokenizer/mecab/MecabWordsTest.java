package dev.berth.tokenizer.mecab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.berth.testing.Gzipped;
import dev.berth.testing.JapaneseArtifact;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The words of MeCab itself, recorded by `trace/japanese_dictionary.py`: 600 sentences of a
/// handbook, 19 that were written here, 181 made of halves of two, and 200 of unknown words and odd
/// characters.
class MecabWordsTest {

    private static final Path RECORDED = Path.of("src/test/resources/mecab");

    @TempDir
    private static Path tiny;

    @BeforeAll
    static void unpack() throws IOException {
        JapaneseArtifact.writeDictionary(tiny);
    }

    @Test
    void aTinyDictionaryCutsAsMecabDoes() throws IOException {
        assertSameWords(tiny, "words-tiny.txt.gz");
    }

    /// Debian's `mecab-ipadic-utf8` and `unidic-mecab`, where they are installed.
    @ParameterizedTest
    @CsvSource({"/var/lib/mecab/dic/ipadic-utf8, words-ipadic.txt.gz", "/var/lib/mecab/dic/unidic, words-unidic.txt.gz"
    })
    void realDictionariesCutAsMecabDoes(Path dictionary, String recorded) throws IOException {
        assumeThat(dictionary).exists();
        assertSameWords(dictionary, recorded);
    }

    @ParameterizedTest
    @ValueSource(strings = {"sys.dic", "unk.dic", "matrix.bin", "char.bin"})
    void aFileThatIsMissingOrCutIsNamed(String name, @TempDir Path directory) throws IOException {
        JapaneseArtifact.writeDictionary(directory);
        var file = directory.resolve(name);
        var content = Files.readAllBytes(file);
        for (int length : new int[] {content.length - 8, 2}) {
            Files.write(file, Arrays.copyOf(content, length));
            assertThatThrownBy(() -> new MecabDictionary(directory))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(name);
        }
        Files.delete(file);
        assertThatThrownBy(() -> new MecabDictionary(directory))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(name + ": not found");
    }

    /// Another version and character set, a category without unknown words, and one that leads out of the file.
    @ParameterizedTest
    @CsvSource({
        "sys.dic, 4, 65000000, found no dictionary of MeCab 0.996",
        "'sys.dic', 40, 4555432d4a50, 'found a dictionary in EUC-JP, expected one in UTF-8'",
        "char.bin, 4, 4e4f5448494e4700, unk.dic: found no entry for the category NOTHING of char.bin",
        "unk.dic, 72, ffffff3f, damaged"
    })
    void aDictionaryThatIsWrongIsRefused(String name, int place, String bytes, String message, @TempDir Path directory)
            throws IOException {
        damage(directory, name, place, bytes);
        assertThatThrownBy(() -> new MecabDictionary(directory))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(message);
    }

    @Test
    void aWordThatLeadsOutOfTheDictionaryIsAnError(@TempDir Path directory) throws IOException {
        damage(directory, "sys.dic", 72, "ffffff3f");
        try (var dictionary = new MecabDictionary(directory)) {
            assertThatThrownBy(() -> words(dictionary, "Wer war das?"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("damaged");
        }
    }

    private static void damage(Path directory, String name, int place, String bytes) throws IOException {
        JapaneseArtifact.writeDictionary(directory);
        try (var channel = Files.newByteChannel(directory.resolve(name), StandardOpenOption.WRITE)) {
            channel.position(place).write(ByteBuffer.wrap(HexFormat.of().parseHex(bytes)));
        }
    }

    private static void assertSameWords(Path directory, String recorded) throws IOException {
        var sentences = lines(Gzipped.text(RECORDED.resolve("sentences.txt.gz")));
        var expected = lines(Gzipped.text(RECORDED.resolve(recorded)));
        assertThat(sentences).hasSize(1000).hasSameSizeAs(expected);
        try (var dictionary = new MecabDictionary(directory)) {
            for (int i = 0; i < sentences.size(); i++) {
                var sentence = Normalizer.normalize(sentences.get(i), Normalizer.Form.NFKC);
                assertThat(words(dictionary, sentence))
                        .as(sentence)
                        .containsExactly(expected.get(i).split("\t"));
            }
        }
    }

    private static List<String> words(MecabDictionary dictionary, String text) {
        var codePoints = text.codePoints().toArray();
        var bounds = new MecabWords(dictionary).cut(codePoints);
        var words = new ArrayList<String>();
        for (int i = 0; i < bounds.length; i += 2) {
            words.add(new String(codePoints, bounds[i], bounds[i + 1] - bounds[i]));
        }
        return words;
    }

    /// Not `readAllLines`, for which other characters end a line too.
    private static List<String> lines(String text) {
        return List.of(text.split("\n"));
    }
}
