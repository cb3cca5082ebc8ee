package dev.berth.tokenizer.mecab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.JapaneseArtifact;
import dev.berth.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.Normalizer;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// A tokenizer.json that says that MeCab cuts the words.
class WordsOfMecabTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path REFERENCE = Path.of("src/test/resources/reference/japanese-bert-tokens.jsonl");

    @TempDir
    private Path directory;

    private Path file;

    @AutoClose
    private Tokenizer tokenizer;

    @BeforeEach
    void load() throws IOException {
        file = JapaneseArtifact.write(directory).resolve("tokenizer.json");
        tokenizer = Tokenizer.load(file);
    }

    /// Those of `trace/japanese_words.py`, whose ids are those of transformers.
    @TestFactory
    Stream<DynamicTest> theTokensAreThoseOfTheReference() throws IOException {
        return Stream.of(Files.readString(REFERENCE).split("\n"))
                .map(line -> DynamicTest.dynamicTest(line, () -> {
                    var expected = JSON.readTree(line);
                    var text = expected.path("text").asText();
                    var found = tokenizer.tokens(text);
                    assertThat(found.ids()).isEqualTo(longs(expected.path("ids")));
                    assertThat(found.words()).isEqualTo(longs(expected.path("words")));
                    assertThat(codePoints(text, found.starts())).isEqualTo(ints(expected.path("starts")));
                    assertThat(codePoints(text, found.ends())).isEqualTo(ints(expected.path("ends")));
                }));
    }

    /// It is cut into several pieces, after full stops.
    @Test
    void aLongTextHasTheTokensOfItsSentences() {
        var sentence = "東京は日本の首都です。";
        var one = tokenizer.tokens(sentence);
        var many = tokenizer.tokens(sentence.repeat(2000));
        assertThat(many.size()).isEqualTo(2000 * one.size());
        assertThat(Arrays.copyOf(many.ids(), one.size())).containsExactly(one.ids());
        assertThat(many.ends()[many.size() - 1]).isEqualTo(2000 * sentence.length());
        assertThat(Arrays.stream(many.words()).distinct()).hasSize(many.size());
    }

    @Test
    void lowerCaseIsMadeOfWords() throws IOException {
        change("words", "lowercase", "true");
        var vocabulary = JSON.readTree(file.toFile()).at("/model/vocab");
        try (var lower = Tokenizer.load(file)) {
            var tokens = lower.tokens("東京İ");
            assertThat(tokens.ids())
                    .containsExactly(
                            vocabulary.path("東京").asLong(),
                            vocabulary.path("[UNK]").asLong());
            assertThat(tokens.ends()).containsExactly(2, 3);
        }
    }

    @Test
    void normalisationByPartsIsThatOfTheWhole() {
        var random = new Random(7);
        var alphabet = IntStream.range(0, 0x20000)
                .filter(codePoint -> codePoint < 0xd800 || codePoint > 0xdfff)
                .filter(codePoint -> !Normalizer.isNormalized(Character.toString(codePoint), Normalizer.Form.NFKC)
                        || Character.getType(codePoint) == Character.NON_SPACING_MARK
                        || "aかカ가각ㄱㅏ".indexOf(codePoint) >= 0)
                .toArray();
        for (int i = 0; i < 20_000; i++) {
            var text = random.ints(6, 0, alphabet.length)
                    .mapToObj(index -> Character.toString(alphabet[index]))
                    .collect(Collectors.joining());
            var found = NormalisedText.of(text, 0, true).codePoints();
            assertThat(new String(found, 0, found.length)).isEqualTo(Normalizer.normalize(text, Normalizer.Form.NFKC));
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        words | cutter | "sudachi" | words.cutter: found "sudachi", expected "mecab"
        words | directory | "../elsewhere" | words.directory: found "../elsewhere", expected a directory beside tokenizer.json
        words | directory | "" | words.directory: found ""
        words | directory | "nothing" | nothing/sys.dic: not found
        words | normalize | 1 | words.normalize: found 1, expected true or false
        words | lowercase | null | words.lowercase: found null, expected true or false
        model | type | "Nothing" | can't be loaded as a tokenizer
        """)
    void whatIsWrongIsNamed(String object, String name, String value, String message) throws IOException {
        change(object, name, value);
        assertThatThrownBy(() -> Tokenizer.load(file))
                .isInstanceOf(IOException.class)
                .hasMessageContainingAll(file.toString(), message);
    }

    private void change(String object, String name, String value) throws IOException {
        var json = JSON.readTree(file.toFile());
        json.withObject("/" + object).set(name, JSON.readTree(value));
        JSON.writeValue(file.toFile(), json);
    }

    private static int[] codePoints(String text, int[] places) {
        return Arrays.stream(places).map(place -> text.codePointCount(0, place)).toArray();
    }

    private static long[] longs(JsonNode list) {
        return list.valueStream().mapToLong(JsonNode::asLong).toArray();
    }

    private static int[] ints(JsonNode list) {
        return list.valueStream().mapToInt(JsonNode::asInt).toArray();
    }
}
